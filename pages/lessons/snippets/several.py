import math

truth, answers = TRUTH, ANSWERS
print(answers * math.log((1 + truth) / (1 - truth)))  # added up
