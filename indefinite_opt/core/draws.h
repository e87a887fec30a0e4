// Random numbers of splitmix64, whose state is one number of Python.
#pragma once

#include "views.h"

struct Draws {
    uint64_t *state;

    double operator()() const {  // in [0, 1)
        *state += 0x9E3779B97F4A7C15u;
        uint64_t z = *state;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return static_cast<double>((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
    }
    Index below(Index count) const {  // in 0, ..., count - 1
        return static_cast<Index>((*this)() * static_cast<double>(count));
    }
};
