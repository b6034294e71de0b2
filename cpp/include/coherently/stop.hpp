// A flag that another thread sets when work is to end.
#pragma once

#include <atomic>

namespace coherently {

class Stop {
public:
    void set() { flag_.store(true, std::memory_order_relaxed); }
    bool is_set() const { return flag_.load(std::memory_order_relaxed); }

private:
    std::atomic<bool> flag_{false};
};

}  // namespace coherently
