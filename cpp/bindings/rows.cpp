#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <memory>

#include "coherently/mixture/row_engine.hpp"
#include "functions.hpp"

namespace coherently::bindings {
namespace {

// Starts, coordinates, which are turned, factors and offsets (see Sums).
using SumArrays =
    std::tuple<Vector<std::int64_t>, Vector<std::int32_t>, Vector<std::uint8_t>, Vector<double>, Vector<double>>;

Sums sums_of(const SumArrays& arrays, std::size_t events) {
    const auto& [starts, coordinates, turned, factors, offset] = arrays;
    Sums sums{copy(starts), copy(coordinates), copy(turned), copy(factors), copy(offset)};
    if (sums.starts.size() != sums.offset.size() + 1 || sums.factors.size() != sums.coordinates.size() ||
        sums.turned.size() != sums.coordinates.size() ||
        static_cast<std::size_t>(sums.starts.back()) != sums.factors.size())
        throw nb::value_error("arrays differ in length");
    if (sums.starts.front() != 0 || !std::is_sorted(sums.starts.begin(), sums.starts.end()))
        throw nb::value_error("starts must ascend from 0");
    for (const std::int32_t i : sums.coordinates)
        if (i < 0 || static_cast<std::size_t>(i) >= events) throw nb::index_error("a coordinate is out of range");
    return sums;
}

std::vector<std::uint8_t> checked(const Vector<std::uint8_t>& equal, const SumArrays& pins) {
    if (equal.size() != std::get<4>(pins).size()) throw nb::value_error("arrays differ in length");
    return copy(equal);
}

class Engine {
public:
    Engine(SharedFunctions functions, std::uint64_t seed, std::shared_ptr<Space> space, const SumArrays& pins,
           Vector<std::uint8_t> equal)
        : functions_(std::move(functions)),
          space_((check_space(space.get(), functions_->n_variables), std::move(space))),
          engine_(functions_->view(), seed, space_.get(), sums_of(pins, size()), checked(equal, pins)) {}

    void set(Vector<double> cost, const SumArrays& rows, Vector<double> weight) {
        RowModel model{copy(cost), sums_of(rows, size()), copy(weight)};
        if (model.cost.size() != size() || model.weight.size() != model.rows.size())
            throw nb::value_error("arrays differ in length");
        nb::gil_scoped_release release;
        engine_.set(std::move(model));
    }
    void include(Matrix<std::uint8_t> worlds) {
        const auto rows = rows_of(worlds);
        nb::gil_scoped_release release;
        engine_.include(rows);
    }
    bool search(double seconds, double enough, int effort, double worth, double goal) {
        nb::gil_scoped_release release;
        return engine_.search(after(seconds), enough, effort, worth, goal);
    }
    bool eliminate(double seconds, double enough) {
        nb::gil_scoped_release release;
        return engine_.eliminate(after(seconds), enough);
    }
    double objective() const { return engine_.mixture().objective(); }
    double level() const { return engine_.mixture().level(); }
    double least() const { return engine_.least(); }
    double missing() const { return engine_.mixture().is_in_phase_1() ? engine_.mixture().missing() : 0.0; }
    bool is_feasible() const { return !engine_.mixture().is_in_phase_1(); }
    // The probabilities of the events, then of their complements, then of certainty.
    NewArray<double> sides() const {
        std::vector<double> sides = engine_.mixture().holds();
        const auto& fails = engine_.mixture().fails();
        sides.insert(sides.end(), fails.begin(), fails.end());
        sides.push_back(1.0);
        return give(std::move(sides));
    }
    std::pair<double, NewArray<std::uint8_t>> minimise(Vector<double> coefficients) {
        if (coefficients.size() != size()) throw nb::value_error("arrays differ in length");
        Found found;
        {
            nb::gil_scoped_release release;
            found = engine_.minimise(view(coefficients));
        }
        return {found.energy, give(std::move(found.world))};
    }
    NewArray<double> gradient() const { return give(std::vector<double>(engine_.mixture().gradient())); }
    NewArray<double> prices() const { return give(std::vector<double>(engine_.mixture().prices())); }
    std::pair<NewArray<double>, NewArray<std::uint8_t>> worlds() const {
        const RowMixture& mixture = engine_.mixture();
        std::vector<double> shares;
        std::vector<std::uint8_t> truth;
        for (std::size_t i = 0; i < mixture.size(); ++i) {
            if (!mixture.is_world(i) || mixture.shares()[i] == 0) continue;
            shares.push_back(mixture.shares()[i]);
            truth.insert(truth.end(), mixture.world(i).begin(), mixture.world(i).end());
        }
        const std::size_t count = shares.size();
        return {give(std::move(shares)), give(std::move(truth), {count, functions_->n_variables})};
    }

private:
    std::size_t size() const { return functions_->size(); }
    std::vector<World> rows_of(const Matrix<std::uint8_t>& worlds) const {
        if (worlds.shape(1) != functions_->n_variables) throw nb::value_error("arrays differ in length");
        std::vector<World> rows;
        for (std::size_t i = 0; i < worlds.shape(0); ++i)
            rows.emplace_back(worlds.data() + i * worlds.shape(1), worlds.data() + (i + 1) * worlds.shape(1));
        return rows;
    }

    SharedFunctions functions_;
    std::shared_ptr<Space> space_;
    RowEngine engine_;
};

}  // namespace

void bind_rows(nb::module_& module) {
    nb::class_<Engine>(module, "RowEngine")
        .def(nb::init<SharedFunctions, std::uint64_t, std::shared_ptr<Space>, const SumArrays&, Vector<std::uint8_t>>(),
             nb::arg("functions"), nb::arg("seed"), nb::arg("space").none(), nb::arg("pins"), nb::arg("equal"))
        .def("set", &Engine::set, nb::arg("cost"), nb::arg("rows"), nb::arg("weight"))
        .def("include", &Engine::include, nb::arg("worlds"))
        .def("search", &Engine::search, nb::arg("seconds"), nb::arg("enough"), nb::arg("effort"),
             nb::arg("worth") = 0.0, nb::arg("goal") = -std::numeric_limits<double>::infinity())
        .def("eliminate", &Engine::eliminate, nb::arg("seconds"), nb::arg("enough"))
        .def("objective", &Engine::objective)
        .def("level", &Engine::level)
        .def("least", &Engine::least)
        .def("missing", &Engine::missing)
        .def("is_feasible", &Engine::is_feasible)
        .def("sides", &Engine::sides)
        .def("minimise", &Engine::minimise, nb::arg("coefficients"))
        .def("gradient", &Engine::gradient)
        .def("prices", &Engine::prices)
        .def("worlds", &Engine::worlds);
}

}  // namespace coherently::bindings
