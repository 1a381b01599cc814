import math

truth, people = TRUTH, DIFFER
epsilon = people * math.log((1 + truth) / (1 - truth))
print(epsilon, math.exp(epsilon))
