// A proof that no world has an energy below a cutoff, where events are about at most two variables.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "coherently/deadline.hpp"
#include "coherently/random.hpp"
#include "coherently/worlds/branch/sign_tree.hpp"
#include "coherently/worlds/energy.hpp"

namespace coherently {

struct Precision;

// Branch and bound. With s = 2 x - 1 in {-1, 1}^n the energy is constant + field s + s' A s, A with a zero diagonal. As
// s_i^2 = 1, any diagonal y may be subtracted from A and its sum added to the constant; where A - diag(y) is positive
// semidefinite, the minimum over the box [-1, 1]^n is a bound. The y are those of the semidefinite relaxation of
// maximum cut (Poljak and Rendl 1995; the mixing method of Wang, Chang and Kolter 2017 solves it).
class DiagonalBound {
public:
    enum class Outcome { better, proved, unfinished };

    explicit DiagonalBound(const Energy& energy, std::uint64_t seed);

    static constexpr std::size_t most_open = 20000;  // nodes

    // Begins with the energy's present coefficients. `seconds` sharpen the first bound, which does not speed up
    // branching. Up to `open` nodes are visited in the order of their bounds; more would need too much memory. With
    // `keep` the tree is kept, and points of tangents are on its grid.
    void start(double cutoff, double seconds = 0, std::size_t open = most_open, bool keep = false);
    // Continues until the deadline or until so many nodes were visited since the start.
    Outcome run(Deadline deadline, std::size_t nodes);
    // A valid bound on the energy of every world, at most the cutoff.
    double bound() const;
    // Worlds below the cutoff, if the outcome is better: those found within about twice the nodes of the first one.
    const std::vector<World>& better() const { return better_; }
    std::size_t nodes() const { return nodes_; }
    // The tree of a proof that was kept and has ended with the outcome proved; else null.
    const SignTree* tree() const { return is_whole_ ? tree_.get() : nullptr; }

private:
    struct Tuning;
    struct Node {
        std::vector<std::int32_t> free;
        std::vector<double> field, gradient, s;  // one entry per free variable
        std::vector<std::int8_t> fixed;          // 1, -1, or 0 where free
        double constant = 0;
        double bound = -std::numeric_limits<double>::infinity();  // the best known
        double measured = bound;                                  // what s gives
        int depth = 0;
        std::int32_t number = 0;  // in the tree that is kept
        std::shared_ptr<const Tuning> tuning;
    };

    void read();
    void tune(Node& node, Precision precision);
    void measure(Node& node) const;
    bool settle(Node& node) const;
    void narrow(Node& node);
    void branch(Node& node);
    void keep_point(const Node& node);
    void push(Node&& node);
    Node pop();
    void fix(Node& node, std::size_t at, int side) const;
    void look(const Node& node);
    bool expand(Node& node);
    double safety() const { return 1e-13 * magnitude_; }
    const double* row(std::int32_t i) const { return &matrix_[static_cast<std::size_t>(i) * n_]; }

    const Energy& energy_;
    std::size_t n_, nodes_ = 0;
    Random random_;
    double shift_ = 1e-3;  // the last cost of convexity
    std::shared_ptr<const Tuning> root_;
    std::vector<double> matrix_, field_;
    double constant_ = 0, cutoff_ = 0, magnitude_ = 0;
    std::vector<Node> heap_;   // the node of the least bound first, so that the bound of all rises
    std::vector<Node> stack_;  // the last node first, once the heap is full
    std::size_t open_ = most_open;
    std::vector<World> better_;
    std::unique_ptr<SignTree> tree_;  // if it is kept
    bool is_whole_ = false;
    std::size_t enough_ = 0;  // number of nodes after which the better worlds are returned
};

}  // namespace coherently
