// Random numbers whose state is an array of Python: splitmix64 (Steele, Lea & Flood 2014).
#pragma once

#include "views.h"

struct Draws {
    uint64_t *state;

    // The next number in [0, 1).
    double operator()() const {
        uint64_t z = *state += 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        z ^= z >> 31;
        return static_cast<double>(z >> 11) / 9007199254740992.0;
    }

    // The next index from 0 to count - 1.
    Index below(Index count) const {
        CHECK(count > 0);
        const Index found = static_cast<Index>((*this)() * static_cast<double>(count));
        return found < count ? found : count - 1;
    }
};
