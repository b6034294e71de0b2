// The nearest mixture of listed worlds to answers, by Wolfe's method, which goes on from the worlds of a near problem.
//
// P. Wolfe, Finding the nearest point in a polytope, Mathematical Programming 11 (1976). The nearest point x to a
// target t is a mixture of few worlds w, and no world has (w - t) (x - t) below (x - t)^2: that is checked at the end.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace coherently {

struct HullPoint {
    std::vector<std::int64_t> worlds;
    std::vector<double> share;
    // All worlds that mixtures as near may be made of.
    std::vector<std::int64_t> face;
};

class WorldHull {
public:
    // `truth` has one row per world, and there is one at least.
    WorldHull(std::size_t worlds, std::size_t items, std::span<const std::uint8_t> truth);

    std::size_t worlds() const { return worlds_; }
    std::size_t items() const { return items_; }

    // The mixture nearest to the active entries of a target, from one to start with, which may be empty; nothing if
    // rounding errors kept it from being proved.
    std::optional<HullPoint> nearest(std::span<const double> target, std::span<const std::uint8_t> active,
                                     HullPoint start) const;

private:
    std::size_t worlds_, items_;
    std::vector<double> truth_;
};

}  // namespace coherently
