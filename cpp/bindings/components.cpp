#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include "coherently/components/component_table.hpp"
#include "functions.hpp"

namespace coherently::bindings {
namespace {

ForecastLoss loss_of(const std::string& name) {
    if (name == "brier") return ForecastLoss::brier;
    if (name == "log") return ForecastLoss::log;
    if (name == "spherical") return ForecastLoss::spherical;
    throw nb::value_error("unknown loss");
}

void check_range(const std::vector<std::int32_t>& values, std::int32_t least, std::size_t end) {
    for (const std::int32_t value : values)
        if (value < least || value >= static_cast<std::int64_t>(end)) throw nb::index_error("a number is out of range");
}

void check_starts(const std::vector<std::int64_t>& starts, std::size_t rows, std::size_t end) {
    if (starts.size() != rows + 1 || starts.front() != 0 || starts.back() != static_cast<std::int64_t>(end) ||
        !std::is_sorted(starts.begin(), starts.end()))
        throw nb::value_error("starts must ascend from 0");
}

void check(const PosedComponents& posed, std::size_t events, std::size_t laws) {
    const std::size_t blocks = posed.block_starts.empty() ? 0 : posed.block_starts.size() - 1;
    const std::size_t given = posed.given_weight.size();
    if (posed.weight.size() != events || posed.mean.size() != events || posed.law_truth.size() != laws ||
        posed.component.size() != events + blocks + laws || posed.given_mean.size() != given ||
        posed.joint.coordinate.size() != given || posed.joint.turned.size() != given ||
        posed.condition.coordinate.size() != given || posed.condition.turned.size() != given)
        throw nb::value_error("arrays differ in length");
    check_starts(posed.block_starts, blocks, posed.block_variables.size());
    check_starts(posed.state_starts, blocks, posed.states.size());
    for (std::size_t b = 0; b < blocks; ++b) {
        const auto width = posed.block_starts[b + 1] - posed.block_starts[b];
        const auto states = posed.state_starts[b + 1] - posed.state_starts[b];
        if (width == 0 || states == 0 || states % width != 0)
            throw nb::value_error("a block needs states, with one value per variable");
    }
    check_range(posed.block_variables, 0, posed.n_variables);
    check_range(posed.component, 0, posed.component.size() + 1);
    check_range(posed.joint.coordinate, 0, events);
    check_range(posed.condition.coordinate, -1, events);
    check_range(posed.barred, 0, events);
}

Functions functions_of(const FunctionsHandle& handle) {
    return {handle.starts, handle.word_starts, handle.variables, handle.words};
}

using Sides = std::pair<Vector<std::int32_t>, Vector<std::uint8_t>>;
using Blocks = std::tuple<Vector<std::int64_t>, Vector<std::int32_t>, Vector<std::int64_t>, Vector<std::uint8_t>>;
using Given = std::tuple<Sides, Sides, Vector<double>, Vector<double>>;

std::shared_ptr<ComponentTable> make(const FunctionsHandle& events, Vector<double> weight, Vector<double> mean,
                                     Vector<std::int32_t> component, const Blocks& blocks, const FunctionsHandle& laws,
                                     Vector<std::uint8_t> truth, const Given& given, Vector<std::int32_t> barred,
                                     const std::string& loss, bool linearised, std::size_t most_worlds) {
    const auto& [joint, condition, given_weight, given_mean] = given;
    PosedComponents posed{functions_of(events),
                          functions_of(laws),
                          events.n_variables,
                          copy(weight),
                          copy(mean),
                          copy(component),
                          copy(std::get<0>(blocks)),
                          copy(std::get<2>(blocks)),
                          copy(std::get<1>(blocks)),
                          copy(std::get<3>(blocks)),
                          copy(truth),
                          {copy(joint.first), copy(joint.second)},
                          {copy(condition.first), copy(condition.second)},
                          copy(given_weight),
                          copy(given_mean),
                          copy(barred),
                          loss_of(loss),
                          linearised,
                          std::min(most_worlds, most_small_worlds)};
    if (laws.n_variables != events.n_variables) throw nb::value_error("arrays differ in length");
    check(posed, events.size(), laws.size());
    return std::make_shared<ComponentTable>(std::move(posed));
}

// Terms are bits of worlds, one entry each; `worlds` says how many there are.
std::vector<ForecastTerm> terms_of(Vector<std::uint64_t> joint, Vector<std::uint64_t> rest, Vector<double> weight,
                                   Vector<double> target, Vector<std::uint8_t> conditional, bool linear,
                                   std::size_t worlds) {
    if (rest.size() != joint.size() || weight.size() != joint.size() || target.size() != joint.size() ||
        conditional.size() != joint.size())
        throw nb::value_error("arrays differ in length");
    if (worlds == 0 || worlds > most_small_worlds) throw nb::value_error("there must be 1 to 64 worlds");
    const std::uint64_t beyond = worlds == 64 ? 0 : ~std::uint64_t{0} << worlds;
    std::vector<ForecastTerm> terms;
    for (std::size_t i = 0; i < joint.size(); ++i) {
        if ((joint(i) | rest(i)) & beyond) throw nb::index_error("a world is out of range");
        const bool given = conditional(i) != 0;
        terms.push_back({joint(i), rest(i), weight(i), target(i), given, given && linear});
    }
    return terms;
}

// The objective, the bound and the shortfall of shares of worlds.
std::tuple<double, double, double> look_at(const std::string& loss, Vector<std::uint64_t> joint,
                                           Vector<std::uint64_t> rest, Vector<double> weight, Vector<double> target,
                                           Vector<std::uint8_t> conditional, bool linear, Vector<double> shares) {
    const auto terms = terms_of(joint, rest, weight, target, conditional, linear, shares.size());
    SmallMixture mixture;
    mixture.look_at(loss_of(loss), terms, view(shares));
    return {mixture.objective(), mixture.bound(), mixture.shortfall()};
}

// The shares of worlds that lose least, what they lose, and a bound below what any lose; nothing if none were found.
std::optional<std::tuple<NewArray<double>, double, double>> mix(const std::string& loss, Vector<std::uint64_t> joint,
                                                                Vector<std::uint64_t> rest, Vector<double> weight,
                                                                Vector<double> target, Vector<std::uint8_t> conditional,
                                                                std::size_t worlds) {
    const auto terms = terms_of(joint, rest, weight, target, conditional, false, worlds);
    SmallMixture mixture;
    if (!mixture.solve(loss_of(loss), terms, worlds) || !std::isfinite(mixture.shortfall())) return {};
    const auto shares = mixture.shares();
    return {{give(std::vector<double>(shares.begin(), shares.end())), mixture.objective(), mixture.bound()}};
}

// One number per component.
template <typename T, typename Pick>
NewArray<T> column(const ComponentTable& table, Pick&& pick) {
    std::vector<T> values;
    values.reserve(table.size());
    for (const ComponentAnswer& answer : table.answers()) values.push_back(pick(answer));
    return give(std::move(values));
}

std::pair<NewArray<std::int64_t>, NewArray<std::int32_t>> rows(const Rows& of) {
    return {give(std::vector<std::int64_t>(of.starts)), give(std::vector<std::int32_t>(of.items))};
}

// The probability of each event of the whole problem; 0 where its component is not solved.
NewArray<double> probabilities(const ComponentTable& table) {
    std::vector<double> x(table.events().items.size(), 0.0);
    for (std::size_t c = 0; c < table.size(); ++c) {
        const ComponentAnswer& answer = table.answers()[c];
        const auto events = table.events().of(c);
        for (std::size_t i = 0; i < answer.x.size(); ++i) x[static_cast<std::size_t>(events[i])] = answer.x[i];
    }
    return give(std::move(x));
}

// The worlds of all components: where each begins among the shares, the shares, where its truth values begin, and
// these, one row per world and one column per variable of the component.
std::tuple<NewArray<std::int64_t>, NewArray<double>, NewArray<std::int64_t>, NewArray<std::uint8_t>> mixtures(
    const ComponentTable& table) {
    std::vector<std::int64_t> starts{0}, truth_starts{0};
    std::vector<double> share;
    std::vector<std::uint8_t> truth;
    for (std::size_t c = 0; c < table.size(); ++c) {
        const ComponentAnswer& answer = table.answers()[c];
        const std::size_t width = table.variables().of(c).size();
        share.insert(share.end(), answer.share.begin(), answer.share.end());
        for (const std::uint64_t world : answer.worlds)
            for (std::size_t v = 0; v < width; ++v) truth.push_back(world >> v & 1);
        starts.push_back(static_cast<std::int64_t>(share.size()));
        truth_starts.push_back(static_cast<std::int64_t>(truth.size()));
    }
    return {give(std::move(starts)), give(std::move(share)), give(std::move(truth_starts)), give(std::move(truth))};
}

}  // namespace

void bind_components(nb::module_& module) {
    module.def("least_mixture", &mix, nb::arg("loss"), nb::arg("joint"), nb::arg("rest"), nb::arg("weight"),
               nb::arg("target"), nb::arg("conditional"), nb::arg("worlds"));
    module.def("touching_bound", &look_at, nb::arg("loss"), nb::arg("joint"), nb::arg("rest"), nb::arg("weight"),
               nb::arg("target"), nb::arg("conditional"), nb::arg("linear"), nb::arg("shares"));
    nb::class_<ComponentTable>(module, "ComponentTable")
        .def(nb::new_(&make), nb::arg("events"), nb::arg("weight"), nb::arg("mean"), nb::arg("component"),
             nb::arg("blocks"), nb::arg("laws"), nb::arg("truth"), nb::arg("given"), nb::arg("barred"), nb::arg("loss"),
             nb::arg("linearised"), nb::arg("most_worlds"))
        .def("__len__", &ComponentTable::size)
        .def(
            "solve",
            [](ComponentTable& table, double seconds, unsigned threads) {
                nb::gil_scoped_release release;
                return table.solve(after(seconds), threads);
            },
            nb::arg("seconds"), nb::arg("threads"))
        .def("events", [](const ComponentTable& table) { return rows(table.events()); })
        .def("variables", [](const ComponentTable& table) { return rows(table.variables()); })
        .def("probabilities", &probabilities)
        .def("mixtures", &mixtures)
        .def("solved",
             [](const ComponentTable& table) {
                 return column<std::uint8_t>(table, [](const ComponentAnswer& one) { return one.solved; });
             })
        .def("objective",
             [](const ComponentTable& table) {
                 return column<double>(table, [](const ComponentAnswer& one) { return one.objective; });
             })
        .def("bound",
             [](const ComponentTable& table) {
                 return column<double>(table, [](const ComponentAnswer& one) { return one.bound; });
             })
        .def("shortfall",
             [](const ComponentTable& table) {
                 return column<double>(table, [](const ComponentAnswer& one) { return one.shortfall; });
             })
        .def("saved",
             [](const ComponentTable& table) {
                 return column<double>(table, [](const ComponentAnswer& one) { return one.saved; });
             })
        .def("steps", [](const ComponentTable& table) {
            return column<std::int64_t>(table, [](const ComponentAnswer& one) { return one.steps; });
        });
}

}  // namespace coherently::bindings
