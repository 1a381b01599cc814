# %% bet
import math

epsilon, before = EPSILON, PRIOR
odds = before / (1 - before)
print([odds * factor / (1 + odds * factor) for factor in (math.exp(-epsilon), math.exp(epsilon))])

# %% coin
import math

truth = TRUTH
epsilon = math.log((1 + truth) / (1 - truth))
print(epsilon)

# %% group
import math

truth, people = TRUTH, PEOPLE
yes_if_true, yes_if_false = (1 + truth) / 2, (1 - truth) / 2
margin = 1.96 * math.sqrt(yes_if_true * yes_if_false / people) / truth
print(100 * margin)

# %% neighbours
import math

truth, people = TRUTH, DIFFER
epsilon = people * math.log((1 + truth) / (1 - truth))
print(epsilon, math.exp(epsilon))

# %% processing
from objpert_core.accounting import Gaussian

print(Gaussian(sigma=SIGMA).delta(1.0))  # not rounded

# %% several
import math

truth, answers = TRUTH, ANSWERS
print(answers * math.log((1 + truth) / (1 - truth)))  # added up

# %% slack
from objpert_core.accounting import Gaussian

noisy = Gaussian(sigma=SIGMA)
print(noisy.delta(EPSILON), noisy.tail(EPSILON))
