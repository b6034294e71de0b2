#include "coherently/worlds/space.hpp"

#include <nanobind/stl/shared_ptr.h>

#include "functions.hpp"

namespace coherently::bindings {
namespace {

std::vector<Block> blocks_of(std::size_t n, Vector<std::int64_t> starts, Vector<std::int32_t> variables,
                             Vector<std::int64_t> state_starts, Vector<std::uint8_t> states) {
    if (starts.size() == 0 || starts.size() != state_starts.size() ||
        static_cast<std::size_t>(starts(starts.size() - 1)) != variables.size() ||
        static_cast<std::size_t>(state_starts(starts.size() - 1)) != states.size())
        throw nb::value_error("arrays differ in length");
    std::vector<bool> known(n);
    for (std::size_t i = 0; i < variables.size(); ++i) {
        const auto v = static_cast<std::size_t>(variables(i));
        if (variables(i) < 0 || v >= n) throw nb::index_error("a variable is out of range");
        if (known[v]) throw nb::value_error("a variable is in two blocks");
        known[v] = true;
    }
    std::vector<Block> blocks;
    for (std::size_t b = 0; b + 1 < starts.size(); ++b) {
        Block block{{variables.data() + starts(b), variables.data() + starts(b + 1)},
                    {states.data() + state_starts(b), states.data() + state_starts(b + 1)}};
        if (block.variables.empty() || block.states.empty() || block.states.size() % block.variables.size() != 0)
            throw nb::value_error("a block needs states, with one value per variable");
        blocks.push_back(std::move(block));
    }
    return blocks;
}

std::shared_ptr<Space> make(Vector<std::int64_t> block_starts, Vector<std::int32_t> block_variables,
                            Vector<std::int64_t> state_starts, Vector<std::uint8_t> states, const FunctionsHandle& laws,
                            Vector<std::uint8_t> truth) {
    if (truth.size() != laws.size()) throw nb::value_error("arrays differ in length");
    const std::size_t n = laws.n_variables;
    return std::make_shared<Space>(n, blocks_of(n, block_starts, block_variables, state_starts, states),
                                   Functions{laws.starts, laws.word_starts, laws.variables, laws.words}, copy(truth));
}

}  // namespace

void bind_space(nb::module_& module) {
    nb::exception<Contradiction>(module, "ContradictionError");
    nb::class_<Space>(module, "Space")
        .def(nb::new_(&make), nb::arg("block_starts"), nb::arg("block_variables"), nb::arg("state_starts"),
             nb::arg("states"), nb::arg("laws"), nb::arg("truth"))
        .def("find_witness", &find_witness, nb::call_guard<nb::gil_scoped_release>())
        .def("witness", [](const Space& space) { return give(std::vector<std::uint8_t>(space.witness())); })
        .def(
            "set_witness",
            [](Space& space, Vector<std::uint8_t> world) {
                if (world.size() != space.n_variables()) throw nb::value_error("arrays differ in length");
                World own = copy(world);
                if (!space.allows(own)) throw nb::value_error("the world is not possible");
                space.set_witness(std::move(own));
            },
            nb::arg("world"))
        .def(
            "allows",
            [](const Space& space, Matrix<std::uint8_t> worlds) {
                if (worlds.shape(1) != space.n_variables()) throw nb::value_error("arrays differ in length");
                std::vector<std::uint8_t> found(worlds.shape(0));
                for (std::size_t i = 0; i < found.size(); ++i) {
                    const std::uint8_t* row = worlds.data() + i * worlds.shape(1);
                    found[i] = space.allows(World(row, row + worlds.shape(1)));
                }
                return give(std::move(found));
            },
            nb::arg("worlds"));
}

}  // namespace coherently::bindings
