// Groups in colours: no two groups of one colour have a member in common, so that they may be projected at the same
// time.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "coherently/groups/projections.hpp"

namespace coherently {

// The colour of each group, from 0: the first that no earlier group with a common member has.
std::vector<std::int32_t> colour_groups(std::span<const std::int64_t> starts, std::span<const std::int32_t> members,
                                        std::size_t n_members);

// Sweeps over groups that are sorted by colour: colour by colour, the blocks of a colour on several threads. Blocks do
// not depend on the number of threads, and neither does any sum, so the result has the same bytes for every number.
template <typename Projector>
class ColouredSweeps {
public:
    // `colours` is where each colour begins among the groups, with their number at the end; if it is empty, groups
    // are projected one after the other.
    ColouredSweeps(Projector projector, std::size_t groups, std::span<const std::int64_t> colours, unsigned threads)
        : groups_(groups), projectors_{std::move(projector)} {
        for (std::size_t c = 0; c + 1 < colours.size(); ++c)
            add_colour(static_cast<std::size_t>(colours[c]), static_cast<std::size_t>(colours[c + 1]));
        if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
        projectors_.resize(std::min<std::size_t>(threads, widest_), projectors_.front());
    }

    double sweep(std::span<double> x) {
        if (blocks_.empty()) return projectors_.front().sweep(x, 0, groups_);
        std::vector<double> moved(blocks_.size());
        run([&](Projector& own, std::size_t b) { moved[b] = own.sweep(x, blocks_[b].first, blocks_[b].second); });
        double sum = 0;
        for (const double block : moved) sum += block;
        return sum;
    }

    void sweep(std::span<double> x, std::span<double> increments) {
        if (blocks_.empty()) return projectors_.front().sweep(x, increments, 0, groups_);
        run([&](Projector& own, std::size_t b) { own.sweep(x, increments, blocks_[b].first, blocks_[b].second); });
    }

    double violation(std::span<const double> x) { return projectors_.front().violation(x); }
    const Projector& first() const { return projectors_.front(); }

private:
    static constexpr std::size_t block_size = 128;  // groups: some microseconds of work

    void add_colour(std::size_t begin, std::size_t end) {
        const std::size_t before = blocks_.size();
        for (std::size_t g = begin; g < end; g += block_size) {
            blocks_.emplace_back(g, std::min(end, g + block_size));
            ready_.push_back(before);
        }
        widest_ = std::max(widest_, blocks_.size() - before);
    }

    // Threads take blocks in their order, each as soon as all blocks of earlier colours are done. Nobody waits for a
    // thread that has no block, so threads that a busy machine leaves no time for slow nobody down.
    template <typename Work>
    void run(Work&& work) {
        std::atomic<std::size_t> next{0}, done{0};
        const auto take = [&](Projector& own) {
            for (;;) {
                std::size_t b = next.load(std::memory_order_relaxed);
                if (b >= blocks_.size()) return;
                if (done.load(std::memory_order_acquire) < ready_[b]) std::this_thread::yield();
                else if (next.compare_exchange_weak(b, b + 1, std::memory_order_relaxed)) {
                    work(own, b);
                    done.fetch_add(1, std::memory_order_release);
                }
            }
        };
        std::vector<std::jthread> helpers;
        for (std::size_t i = 1; i < projectors_.size(); ++i) helpers.emplace_back([&, i] { take(projectors_[i]); });
        take(projectors_.front());
    }

    std::size_t groups_;
    std::size_t widest_ = 1;                                   // the most blocks of a colour
    std::vector<Projector> projectors_;                        // one for each thread
    std::vector<std::pair<std::size_t, std::size_t>> blocks_;  // first group and end of each
    std::vector<std::size_t> ready_;                           // the blocks that must be done before each
};

}  // namespace coherently
