"""The annealing kernel once more, in plain Python: whole worlds are evaluated anew for every flip."""

import math

import numpy as np

MASK = 2**64 - 1


class Xoshiro:
    """Blackman and Vigna's xoshiro256++, seeded by splitmix64."""

    def __init__(self, seed):
        self.state = []
        for _ in range(4):
            seed = (seed + 0x9E3779B97F4A7C15) & MASK
            word = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9 & MASK
            word = (word ^ word >> 27) * 0x94D049BB133111EB & MASK
            self.state.append(word ^ word >> 31)

    def next(self):
        s0, s1, s2, s3 = self.state
        result = (_rotated((s0 + s3) & MASK, 23) + s0) & MASK
        s2 ^= s0
        s3 ^= s1
        self.state = [s0 ^ s3, s1 ^ s2, s2 ^ (s1 << 17 & MASK), _rotated(s3, 45)]
        return result


def _rotated(word, by):
    return (word << by | word >> 64 - by) & MASK


class SlowAnnealer:
    """`evaluate` gives the truth of all events in worlds, a row each."""

    def __init__(self, merged, evaluate, columns, seed):
        self.merged, self.evaluate, self.random = merged, evaluate, Xoshiro(seed)
        n = merged.n_variables
        words = -(-n // 64)
        self.truth = np.zeros((columns, n), bool)
        for column in range(columns):
            row = [self.random.next() for _ in range(words)]
            self.truth[column] = [row[v // 64] >> v % 64 & 1 for v in range(n)]
        weighty = np.repeat(merged.weight > 0, merged.sizes())
        self.active = np.unique(merged.functions.variables[weighty]).tolist()
        self.quanta = 2.0 ** (60 - math.frexp(sum(merged.weight.tolist()))[1])

    def energy(self):
        share = self.evaluate(self.truth).sum(axis=0) / len(self.truth)
        parts = zip(self.merged.weight.tolist(), self.merged.mean.tolist(), share.tolist(), strict=True)
        return sum(int(w * (x - q) * (x - q) * self.quanta) for w, q, x in parts if w > 0)

    def draw(self):
        bits = self.random.next()
        return (bits & 0xFFFFFFFF) * len(self.truth) >> 32, self.active[(bits >> 32) * len(self.active) >> 32]

    def change(self, flip):
        before = self.energy()
        self.truth[flip] ^= True
        after = self.energy()
        self.truth[flip] ^= True
        return after - before

    def roughness(self, samples):
        if not self.active:
            return 0.0
        return sum(abs(self.change(self.draw())) for _ in range(samples)) / samples / self.quanta

    def advance(self, steps, temperature):
        for _ in range(steps if self.active else 0):
            flip = self.draw()
            change = self.change(flip)
            if change <= 0 or (self.random.next() >> 11) * 2.0**-53 < self.chance(change, temperature):
                self.truth[flip] ^= True

    def chance(self, change, temperature):
        return math.exp(-change / (temperature * self.quanta)) if temperature else 0.0
