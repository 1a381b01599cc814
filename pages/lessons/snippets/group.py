import math

truth, people = TRUTH, PEOPLE
yes_if_true, yes_if_false = (1 + truth) / 2, (1 - truth) / 2
margin = 1.96 * math.sqrt(yes_if_true * yes_if_false / people) / truth
print(100 * margin)
