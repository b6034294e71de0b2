// When work must end.
#pragma once

#include <algorithm>
#include <chrono>

namespace coherently {

using Deadline = std::chrono::steady_clock::time_point;

inline Deadline after(double seconds) {
    using Clock = std::chrono::steady_clock;
    const std::chrono::duration<double> bounded(std::min(seconds, 1e6));
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(bounded);
}

inline bool has_passed(Deadline deadline) { return std::chrono::steady_clock::now() >= deadline; }

}  // namespace coherently
