// The lines of a table's columns as plain fields. What stands in a field is the truth: a run of the script never writes
// into one, whatever it answers and however late. Only another `version` (a new table, a loaded schema) or other columns
// fill them anew: after a lost session versions begin again in the same page.

const PAUSE = 300 // ms without a key before what is typed is told, without leaving the field
const kept = { table: null, rows: [], place: null } // outlives a table that is moved to another part of the page

export default function ({ parentElement, data, setStateValue }) {
  const lines = (parentElement.lines ??= draw(parentElement, data))
  lines.tell = (rows) => setStateValue("rows", rows) // the script's latest run
  return lines.flush
}

function draw(parent, { version, fields, rows }) {
  const known = JSON.stringify([version, rows.map((row) => row.column)])
  if (kept.table !== known) Object.assign(kept, { table: known, rows, place: null })
  const box = make("div", { className: "own-lines" })
  const table = box.appendChild(make("table", {}))
  const head = table.appendChild(make("thead", {})).appendChild(make("tr", {}))
  for (const { label, help, width } of [{ label: "Column", width: 90 }, ...fields]) {
    const title = head.appendChild(make("th", { scope: "col", textContent: label, title: help ?? "" }))
    title.style.minWidth = `${width}px`
  }
  const body = table.appendChild(make("tbody", {}))
  const cells = kept.rows.map((row, y) => {
    const line = body.appendChild(make("tr", {}))
    line.appendChild(make("th", { scope: "row", textContent: row.column, title: row.column }))
    return fields.map((field, x) => {
      const cell = control(field, row[field.name])
      cell.setAttribute("aria-label", `${field.label}, ${row.column}`)
      Object.assign(cell.dataset, { x, y })
      line.appendChild(make("td", {})).appendChild(cell)
      return cell
    })
  })

  const lines = { tell: () => {}, flush }
  let told = JSON.stringify(rows) // what the script knows
  let timer = 0

  function flush() {
    clearTimeout(timer)
    const now = JSON.stringify(kept.rows)
    if (now === told) return
    told = now
    lines.tell(kept.rows)
  }

  function keep(cell) {
    const { x, y } = cell.dataset
    kept.rows = kept.rows.with(y, { ...kept.rows[y], [fields[x].name]: valueOf(cell) })
  }

  table.addEventListener("input", ({ target }) => {
    keep(target)
    clearTimeout(timer)
    timer = setTimeout(flush, PAUSE)
  })
  table.addEventListener("change", flush)
  table.addEventListener("focusin", ({ target }) => (kept.place = target.dataset))
  table.addEventListener("focusout", () => box.isConnected && (kept.place = null))

  table.addEventListener("keydown", (event) => {
    const { target, key } = event
    const step = { Enter: event.shiftKey ? -1 : 1, ArrowDown: 1, ArrowUp: -1 }[key]
    if (step === undefined || event.isComposing || (key !== "Enter" && target.type !== "text")) return
    event.preventDefault()
    const next = cells[Number(target.dataset.y) + step]?.[target.dataset.x]
    next ? enter(next) : flush()
  })

  table.addEventListener("paste", (event) => {
    const text = event.clipboardData.getData("text/plain").replace(/\r\n?/g, "\n").replace(/\n$/, "")
    if (!/[\t\n]/.test(text) && event.target.type === "text") return // one value: the field takes it
    event.preventDefault()
    const { x, y } = event.target.dataset
    text.split("\n").forEach((row, down) =>
      row.split("\t").forEach((value, right) => {
        const cell = cells[Number(y) + down]?.[Number(x) + right]
        if (!cell) return
        put(cell, value.trim())
        keep(cell)
      })
    )
    flush()
  })

  parent.appendChild(box)
  if (kept.place) enter(cells[kept.place.y][kept.place.x])
  if (JSON.stringify(kept.rows) !== told) queueMicrotask(flush)
  return lines
}

function control({ options, kind }, value) {
  if (kind === "switch") return make("input", { type: "checkbox", checked: value })
  if (kind === "text") return make("input", { type: "text", value, autocomplete: "off", spellcheck: false })
  const list = make("select", {})
  list.append(...options.map((option) => make("option", { textContent: option })))
  list.value = value
  return list
}

const valueOf = (cell) => (cell.type === "checkbox" ? cell.checked : cell.value)

function put(cell, text) {
  if (cell.type === "checkbox") cell.checked = /^(true|1|yes|x)$/i.test(text)
  else if (cell.type === "text") cell.value = text
  else if ([...cell.options].some((option) => option.value === text)) cell.value = text
}

function enter(cell) {
  cell.focus()
  if (cell.type === "text") cell.select()
}

const make = (tag, properties) => Object.assign(document.createElement(tag), properties)
