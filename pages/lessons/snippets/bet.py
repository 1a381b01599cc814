import math

epsilon, before = EPSILON, PRIOR
odds = before / (1 - before)
print([odds * factor / (1 + odds * factor) for factor in (math.exp(-epsilon), math.exp(epsilon))])
