#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>

#include <limits>
#include <memory>

#include "coherently/worlds/search/block_search.hpp"
#include "coherently/worlds/elimination/free_elimination.hpp"
#include "coherently/worlds/search/tabu_search.hpp"
#include "coherently/worlds/elimination/space_elimination.hpp"
#include "owned_events.hpp"
#include "proof.hpp"

namespace coherently::bindings {
namespace {

constexpr std::size_t sweeps = 300;

// The world of the least sum of coefficients over the events that hold, by whatever means.
class Oracle {
public:
    Oracle(std::size_t n, Vector<std::int64_t> starts, Vector<std::int32_t> variables, Vector<std::int64_t> word_starts,
           Vector<std::uint64_t> words, std::uint64_t seed, std::shared_ptr<Space> space)
        : events_(n, starts, variables, word_starts, words),
          space_((check_space(space.get(), n), std::move(space))),
          energy_(events_.view()),
          search_(energy_, seed),
          seed_(seed) {
        if (space_) blocks_ = std::make_unique<BlockSearch>(events_.view(), *space_, seed);
    }

    void set(Vector<double> coefficients) {
        if (coefficients.size() + 1 != events_.starts.size()) throw nb::value_error("arrays differ in length");
        coefficients_ = OwnedEvents::copy(coefficients);
        energy_.set(coefficients_);
        if (blocks_) blocks_->set(coefficients_);
    }
    double value(Vector<std::uint8_t> world) const {
        if (world.size() != events_.n_variables) throw nb::value_error("arrays differ in length");
        return energy_.value(OwnedEvents::copy(world));
    }
    NewArray<std::uint8_t> search(std::size_t attempts, double seconds) {
        World best;
        {
            nb::gil_scoped_release release;
            double least = std::numeric_limits<double>::infinity();
            const auto deadline = after(seconds);
            for (std::size_t i = 0; i < attempts && (i == 0 || std::chrono::steady_clock::now() < deadline); ++i) {
                if (blocks_) attempt(*blocks_, i % 2 == 1, best, least);
                else attempt(search_, i % 2 == 1, best, least);
            }
        }
        if (best.empty() && space_) best = space_->witness();
        return give(std::move(best));
    }
    NewArray<std::uint8_t> eliminate() {
        World world;
        {
            nb::gil_scoped_release release;
            if (space_) {
                if (!space_elimination_) space_elimination_ = std::make_unique<SpaceElimination>(events_.view(), *space_);
                space_elimination_->minimise(coefficients_, world);
            } else {
                if (!elimination_) elimination_ = std::make_unique<Elimination>(events_.view());
                elimination_->minimise(coefficients_, world);
            }
        }
        return give(std::move(world));
    }
    // Whether proofs are possible: under laws, of at most two variables each.
    bool can_prove() { return proof().is_possible(); }
    void start_proof(double cutoff, double seconds) {
        nb::gil_scoped_release release;
        proof().start(cutoff, coefficients_, seconds);
    }
    const char* prove(double seconds) {
        nb::gil_scoped_release release;
        return proof().run(seconds);
    }
    double bound() { return proof().bound(); }
    void raise_fines() { proof().raise(); }
    NewArray<std::uint8_t> better() { return stack(proof().inner().better(), events_.n_variables); }

private:
    Proof& proof() {
        if (!proof_) proof_ = std::make_unique<Proof>(energy_, space_.get(), seed_);
        return *proof_;
    }
    // Lowers `best` by one search, from there or from anywhere.
    template <typename Search>
    void attempt(Search& search, bool anywhere, World& best, double& least) const {
        std::vector<TabuSearch::Found> unused;
        const World first = space_ ? space_->witness() : World(events_.n_variables);
        if (anywhere) search.anneal(sweeps);
        else search.run(best.empty() ? first : best, 20 * first.size() + 20, -std::numeric_limits<double>::infinity(), unused);
        if (search.best_energy() < least) least = search.best_energy(), best = search.best();
    }

    OwnedEvents events_;
    std::shared_ptr<Space> space_;
    Energy energy_;
    TabuSearch search_;
    std::unique_ptr<BlockSearch> blocks_;
    std::uint64_t seed_;
    std::unique_ptr<Proof> proof_;
    std::unique_ptr<Elimination> elimination_;
    std::unique_ptr<SpaceElimination> space_elimination_;
    std::vector<double> coefficients_;
};

}  // namespace

void bind_oracle(nb::module_& module) {
    nb::class_<Oracle>(module, "WorldOracle")
        .def(nb::init<std::size_t, Vector<std::int64_t>, Vector<std::int32_t>, Vector<std::int64_t>, Vector<std::uint64_t>,
                      std::uint64_t, std::shared_ptr<Space>>(),
             nb::arg("n_variables"), nb::arg("starts"), nb::arg("variables"), nb::arg("word_starts"), nb::arg("words"),
             nb::arg("seed"), nb::arg("space").none() = nb::none())
        .def("set", &Oracle::set, nb::arg("coefficients"))
        .def("value", &Oracle::value, nb::arg("world"))
        .def("search", &Oracle::search, nb::arg("attempts"), nb::arg("seconds"))
        .def("eliminate", &Oracle::eliminate)
        .def("can_prove", &Oracle::can_prove)
        .def("raise_fines", &Oracle::raise_fines)
        .def("start_proof", &Oracle::start_proof, nb::arg("cutoff"), nb::arg("seconds") = 0.0)
        .def("prove", &Oracle::prove, nb::arg("seconds"))
        .def("bound", &Oracle::bound)
        .def("better", &Oracle::better);
    module.def("evaluate_worlds", [](std::size_t n, Vector<std::int64_t> starts, Vector<std::int32_t> variables,
                                     Vector<std::int64_t> word_starts, Vector<std::uint64_t> words,
                                     Matrix<std::uint8_t> worlds) {
        const OwnedEvents events(n, starts, variables, word_starts, words);
        if (worlds.shape(1) != n) throw nb::value_error("arrays differ in length");
        const Energy energy(events.view());
        const std::size_t m = events.starts.size() - 1;
        std::vector<std::uint8_t> truth(worlds.shape(0) * m), bits((m + 7) / 8);
        for (std::size_t i = 0; i < worlds.shape(0); ++i) {
            energy.evaluate(World(worlds.data() + i * n, worlds.data() + (i + 1) * n), bits);
            for (std::size_t j = 0; j < m; ++j) truth[i * m + j] = bits[j / 8] >> (j % 8) & 1;
        }
        return give(std::move(truth), {worlds.shape(0), m});
    }, nb::arg("n_variables"), nb::arg("starts"), nb::arg("variables"), nb::arg("word_starts"), nb::arg("words"),
       nb::arg("worlds"));
    module.def("elimination_cost", [](std::size_t n, Vector<std::int64_t> starts, Vector<std::int32_t> variables,
                                      Vector<std::int64_t> word_starts, Vector<std::uint64_t> words, double limit,
                                      std::shared_ptr<Space> space) {
        const OwnedEvents events(n, starts, variables, word_starts, words);
        return space ? SpaceElimination::cost(events.view(), *space, limit) : Elimination::cost(events.view(), limit);
    }, nb::arg("n_variables"), nb::arg("starts"), nb::arg("variables"), nb::arg("word_starts"), nb::arg("words"),
       nb::arg("limit"), nb::arg("space").none() = nb::none());
}

}  // namespace coherently::bindings
