import math

truth = TRUTH
epsilon = math.log((1 + truth) / (1 - truth))
print(epsilon)
