// Independent pieces of work on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace coherently {

#ifdef __wasi__  // WebAssembly, in a browser: there are no threads

inline unsigned count_processors() { return 1; }

template <typename Work>
void in_parallel(std::size_t count, unsigned, Work&& work) {
    for (std::size_t i = 0; i < count; ++i) work(i);
}

#else

inline unsigned count_processors() { return std::max(1U, std::thread::hardware_concurrency()); }

// Calls work(0) .. work(count - 1), each once, on up to `threads` threads (0: one per processor).
template <typename Work>
void in_parallel(std::size_t count, unsigned threads, Work&& work) {
    if (threads == 0) threads = count_processors();
    threads = static_cast<unsigned>(std::min<std::size_t>(threads, count));
    std::atomic<std::size_t> next{0};
    const auto take = [&] {
        for (std::size_t i = next++; i < count; i = next++) work(i);
    };
    std::vector<std::jthread> helpers;
    for (unsigned i = 1; i < threads; ++i) helpers.emplace_back(take);
    take();
}

#endif

}  // namespace coherently
