// Random numbers that are the same on every platform.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace coherently {

// xoshiro256++ (Blackman and Vigna 2021), its state filled by splitmix64.
class Random {
public:
    explicit Random(std::uint64_t seed) {
        for (std::uint64_t& word : state_) {
            seed += 0x9E3779B97F4A7C15;
            word = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9;
            word = (word ^ word >> 27) * 0x94D049BB133111EB;
            word ^= word >> 31;
        }
    }

    std::uint64_t next() {
        const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
        const std::uint64_t shifted = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = std::rotl(state_[3], 45);
        return result;
    }

    std::size_t below(std::size_t beyond);
    // Below 1, of 53 bits.
    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

private:
    std::array<std::uint64_t, 4> state_;
};

// A number below `beyond` out of 32 random bits, uneven by less than beyond / 2^32.
inline std::size_t below(std::uint32_t bits, std::size_t beyond) {
    return static_cast<std::size_t>(std::uint64_t{bits} * beyond >> 32);
}

inline std::size_t Random::below(std::size_t beyond) {
    return coherently::below(static_cast<std::uint32_t>(next() >> 32), beyond);
}

}  // namespace coherently
