#include "coherently/worlds/search/block_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "coherently/functions/boolean_function.hpp"

namespace coherently {
namespace {

// The problem is min sum_j c_j [event j holds] over worlds in which blocks are in one of their states and laws hold.
// Laws of few joint states become blocks (`absorb`); the others, the open laws, become penalties:
//
//     sum_j c_j [event j holds] + sum_l share_l fine_l d_l,   d_l = sum_{k >= 1} [d_l >= k],
//
// where d_l is the number of variables that must turn until law l holds, counted up to `most_grades`. Each [d_l >= k]
// is a Boolean function, a grade, and so one more event of the energy. Functions must be false where all variables are,
// so a grade that is true there is replaced by its complement, with the coefficient -fine and the constant fine. At
// share 1 a fine exceeds the sum of |c_j| over the events of any one block of its law, so a move that breaks it costs
// more than the events of the block can gain. Shares rise and fall during the walk (strategic oscillation, Glover
// 1989); worlds that break a law are not reported.
//
// A move sets a block to a state. Given the other blocks, the energy of a state is the sum of three parts: `inside`, of
// events about no other block; a `field` for each true variable, of events with one variable in the block, which are
// linear in it; and `knots`, of larger events with several variables in it, whose table is looked up at each state.
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t few_states = 16;    // maximum number of states of a block that laws make (or 2 per variable)
constexpr std::size_t most_joint = 4096;  // maximum number of states that are tried for it
constexpr double premium = 1.01;          // on the largest gain by breaking a law
constexpr double relative_rounding = 1e-13;
constexpr std::size_t oscillation = 16;  // moves between two changes of the penalties
constexpr double cheaper = 0.6, least_share = 0.05;
constexpr std::size_t raises = 8;  // of the penalties while cooling
constexpr int most_grades = 16;

// All joint states of some blocks that a law allows; empty if there are too many.
Block joined(const std::vector<const Block*>& parts, const LargeEvent& law, bool truth) {
    Block joint;
    double count = 1;
    for (const Block* part : parts) {
        joint.variables.insert(joint.variables.end(), part->variables.begin(), part->variables.end());
        count *= static_cast<double>(part->size());
    }
    if (parts.size() > 1 && count > static_cast<double>(most_joint)) return {};
    std::vector<std::size_t> at;
    for (const std::int32_t v : law.variables)
        at.push_back(static_cast<std::size_t>(std::find(joint.variables.begin(), joint.variables.end(), v) -
                                              joint.variables.begin()));
    std::vector<std::size_t> state(parts.size());
    std::vector<std::uint8_t> row;
    for (bool more = true; more;) {
        row.clear();
        for (std::size_t k = 0; k < parts.size(); ++k)
            for (std::size_t i = 0; i < parts[k]->variables.size(); ++i) row.push_back(parts[k]->value(state[k], i));
        std::uint32_t place = 0;
        for (std::size_t i = 0; i < at.size(); ++i) place += law.part(i, row[at[i]]);
        if (law.holds(place) == truth) joint.states.insert(joint.states.end(), row.begin(), row.end());
        std::size_t k = 0;
        while (k < parts.size() && ++state[k] == parts[k]->size()) state[k++] = 0;
        more = k < parts.size();
    }
    if (joint.states.empty()) throw Contradiction();
    return parts.size() == 1 || joint.size() <= std::max(few_states, 2 * joint.variables.size()) ? joint : Block{};
}

// The least number of variables that must turn until a law has its truth: by row, or by number of true literals.
std::vector<int> distances(const LargeEvent& law, bool truth) {
    const std::size_t size = law.variables.size(), rows = law.counted ? size + 1 : std::size_t{1} << size;
    std::vector<int> distance(rows, -1);
    std::vector<std::size_t> queue;
    for (std::size_t row = 0; row < rows; ++row)
        if (law.holds(static_cast<std::uint32_t>(row)) == truth) distance[row] = 0, queue.push_back(row);
    for (std::size_t head = 0; head < queue.size(); ++head) {
        const std::size_t row = queue[head];
        const auto reach = [&](std::size_t next) {
            if (next < rows && distance[next] < 0) distance[next] = distance[row] + 1, queue.push_back(next);
        };
        if (law.counted) reach(row + 1), reach(row - 1);
        for (std::size_t k = 0; !law.counted && k < size; ++k) reach(row ^ (std::size_t{1} << k));
    }
    return distance;
}

}  // namespace

// The blocks of the search, and the laws that they do not imply.
struct BlockSearch::Layout {
    std::vector<Block> blocks;
    std::vector<std::int32_t> block_of;
    std::vector<std::size_t> open;
    Functions across;
    std::vector<std::size_t> across_events;
    std::vector<Grade> grades;

    Layout(const EventView& events, const Space& space) : blocks(space.blocks()), block_of(space.n_variables()) {
        std::vector<std::uint8_t> known(space.n_variables());
        for (const Block& block : blocks)
            for (const std::int32_t v : block.variables) known[static_cast<std::size_t>(v)] = 1;
        for (std::size_t v = 0; v < known.size(); ++v)
            if (!known[v]) blocks.push_back({{static_cast<std::int32_t>(v)}, {0, 1}});
        number();
        absorb(space);
        const EventView laws = space.laws();
        for (std::size_t j = 0; j < events.size(); ++j) {
            if (touched(events.variables_of(j)).size() < 2) continue;
            across.add(events.variables_of(j), events.words_of(j));
            across_events.push_back(j);
        }
        for (std::size_t i = 0; i < open.size(); ++i) add_grades(i, function_of(laws, open[i]), space.truth(open[i]));
    }

    // One function for each distance that the law may have from its truth; turned if all false is that far.
    void add_grades(std::size_t place, const LargeEvent& law, bool truth) {
        const std::vector<int> distance = distances(law, truth);
        const std::size_t none = law.row(World(block_of.size()));
        const std::size_t begin = law.counted ? words_for(law.variables.size()) : 0;
        for (int least = 1; least <= std::min(most_grades, *std::max_element(distance.begin(), distance.end()));
             ++least) {
            const bool turned = distance[none] >= least;
            std::vector<std::uint64_t> words(law.words.begin(), law.words.end());
            std::fill(words.begin() + static_cast<std::ptrdiff_t>(begin), words.end(), std::uint64_t{0});
            for (std::size_t row = 0; row < distance.size(); ++row)
                if ((distance[row] >= least) != turned) words[begin + row / 64] |= std::uint64_t{1} << (row % 64);
            across.add(law.variables, words);
            grades.push_back({place, turned});
        }
    }

    void number() {
        for (std::size_t b = 0; b < blocks.size(); ++b)
            for (const std::int32_t v : blocks[b].variables)
                block_of[static_cast<std::size_t>(v)] = static_cast<std::int32_t>(b);
    }
    std::vector<std::size_t> touched(std::span<const std::int32_t> variables) const {
        std::vector<std::size_t> found;
        for (const std::int32_t v : variables)
            found.push_back(static_cast<std::size_t>(block_of[static_cast<std::size_t>(v)]));
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        return found;
    }
    // Joins blocks by the laws about them, the laws of fewest variables first.
    void absorb(const Space& space) {
        const EventView laws = space.laws();
        std::vector<std::size_t> order(laws.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return laws.variables_of(a).size() < laws.variables_of(b).size();
        });
        for (const std::size_t law : order) {
            const auto mine = touched(laws.variables_of(law));
            if (mine.empty()) {
                if (space.truth(law)) throw Contradiction();
                continue;
            }
            std::vector<const Block*> parts;
            parts.reserve(mine.size());
            for (const std::size_t b : mine) parts.push_back(&blocks[b]);
            Block block = joined(parts, function_of(laws, law), space.truth(law));
            if (block.states.empty()) {
                open.push_back(law);
                continue;
            }
            for (const std::int32_t v : block.variables)
                block_of[static_cast<std::size_t>(v)] = static_cast<std::int32_t>(mine[0]);
            blocks[mine[0]] = std::move(block);
            for (std::size_t k = 1; k < mine.size(); ++k) blocks[mine[k]] = {};
        }
        std::erase_if(blocks, [](const Block& block) { return block.variables.empty(); });
        number();
        std::erase_if(open, [&](std::size_t law) {  // its blocks may have been joined since
            const auto mine = touched(laws.variables_of(law));
            if (mine.size() > 1) return false;
            blocks[mine[0]] = joined({&blocks[mine[0]]}, function_of(laws, law), space.truth(law));
            return true;
        });
    }
};

BlockSearch::BlockSearch(const EventView& events, const Space& space, std::uint64_t seed)
    : BlockSearch(events, space, seed, Layout(events, space)) {}

BlockSearch::BlockSearch(const EventView& events, const Space& space, std::uint64_t seed, Layout layout)
    : space_(space),
      random_(seed),
      block_of_(std::move(layout.block_of)),
      position_(space.n_variables()),
      open_laws_(std::move(layout.open)),
      across_(std::move(layout.across)),
      across_events_(std::move(layout.across_events)),
      grades_(std::move(layout.grades)),
      energy_(across_.view(space.n_variables())),
      walk_(energy_),
      events_at_(layout.blocks.size()),
      state_(layout.blocks.size()),
      next_(layout.blocks.size()),
      free_at_(layout.blocks.size()),
      change_(layout.blocks.size()),
      is_touched_(layout.blocks.size()) {
    for (Block& block : layout.blocks) {
        SearchBlock own;
        own.turn_starts.push_back(0);
        for (std::size_t s = 0; s < block.size(); ++s) {
            for (std::size_t k = 0; k < block.variables.size(); ++k)
                if (block.value(s, k) != (s > 0 && block.value(s - 1, k)))
                    own.turns.push_back({static_cast<std::uint32_t>(k), block.value(s, k)});
            own.turn_starts.push_back(own.turns.size());
        }
        for (std::size_t k = 0; k < block.variables.size(); ++k)
            position_[static_cast<std::size_t>(block.variables[k])] = k;
        own.inside.resize(block.size());
        own.is_single = block.variables.size() == 1 && block.size() == 2;
        own.block = std::move(block);
        blocks_.push_back(std::move(own));
    }
    std::vector<std::size_t> met(blocks_.size(), events.size());
    auto reach = static_cast<double>(blocks_.size());
    for (std::size_t j = 0; j < events.size(); ++j) {
        std::size_t count = 0, home = 0;
        for (const std::int32_t v : events.variables_of(j)) {
            const auto b = static_cast<std::size_t>(block_of_[static_cast<std::size_t>(v)]);
            if (met[b] == j) continue;
            met[b] = j, home = b, ++count;
            events_at_[b].push_back(static_cast<std::uint32_t>(j));
        }
        reach += static_cast<double>(count * count);
        if (count == 1) add_inside(function_of(events, j), blocks_[home]);
    }
    tie_knots();
    const auto n = static_cast<double>(blocks_.size());
    sparse_ = 2 * reach * std::log2(n + 1) < n * n;
}

void BlockSearch::add_inside(const LargeEvent& function, SearchBlock& own) const {
    bool before = false;
    for (std::size_t s = 0; s < own.block.size(); ++s) {
        std::uint32_t row = 0;
        for (std::size_t i = 0; i < function.variables.size(); ++i)
            row += function.part(i, own.block.value(s, position_[static_cast<std::size_t>(function.variables[i])]));
        const bool holds = function.holds(row);
        if (holds != before)
            own.steps.push_back(
                {static_cast<std::uint32_t>(function.event), static_cast<std::uint32_t>(s), holds ? 1.0 : -1.0});
        before = holds;
    }
}

void BlockSearch::tie_knots() {
    for (std::size_t i = 0; i < energy_.large().size(); ++i) {
        const LargeEvent& large = energy_.large()[i];
        std::vector<std::pair<std::int32_t, std::size_t>> mine;
        mine.reserve(large.variables.size());
        for (std::size_t k = 0; k < large.variables.size(); ++k)
            mine.emplace_back(block_of_[static_cast<std::size_t>(large.variables[k])], k);
        std::sort(mine.begin(), mine.end());
        for (std::size_t begin = 0, end = 0; begin < mine.size(); begin = end) {
            while (end < mine.size() && mine[end].first == mine[begin].first) ++end;
            if (end - begin < 2) continue;
            SearchBlock& own = blocks_[static_cast<std::size_t>(mine[begin].first)];
            Knot knot{i, {}, std::vector<std::uint32_t>(own.block.size())};
            for (std::size_t m = begin; m < end; ++m) {
                const std::size_t k = mine[m].second, place = position_[static_cast<std::size_t>(large.variables[k])];
                knot.places.emplace_back(k, place);
                for (std::size_t s = 0; s < knot.parts.size(); ++s)
                    knot.parts[s] += large.part(k, own.block.value(s, place));
            }
            own.knots.push_back(std::move(knot));
        }
    }
}

void BlockSearch::set(std::span<const double> coefficients) {
    for (SearchBlock& own : blocks_) {
        std::fill(own.inside.begin(), own.inside.end(), 0.0);
        for (const Step& step : own.steps) own.inside[step.place] += step.sign * coefficients[step.event];
        std::partial_sum(own.inside.begin(), own.inside.end(), own.inside.begin());
    }
    coefficients_.clear();
    rounding_ = 0;
    for (const double coefficient : coefficients) rounding_ += relative_rounding * std::abs(coefficient);
    for (const std::size_t j : across_events_) coefficients_.push_back(coefficients[j]);
    price(coefficients);
}

void BlockSearch::price(std::span<const double> coefficients) {
    fines_.clear();
    const EventView laws = space_.laws();
    for (const std::size_t law : open_laws_) {
        double most = 0;
        for (const std::int32_t v : laws.variables_of(law)) {
            double load = 0;
            for (const std::uint32_t j : events_at_[static_cast<std::size_t>(block_of_[static_cast<std::size_t>(v)])])
                load += std::abs(coefficients[j]);
            most = std::max(most, load);
        }
        fines_.push_back(most > 0 ? premium * most : 1.0);
        rounding_ += relative_rounding * fines_.back();
    }
    coefficients_.resize(across_events_.size() + grades_.size());
    set_shares(1.0);
}

// Sets all penalties to a share of the largest gain by breaking a law.
void BlockSearch::set_shares(double share) {
    share_.assign(open_laws_.size(), share);
    apply_shares();
}

void BlockSearch::apply_shares() {
    offset_ = 0;
    for (std::size_t g = 0; g < grades_.size(); ++g) {
        const double fine = share_[grades_[g].law] * fines_[grades_[g].law];
        coefficients_[across_events_.size() + g] = grades_[g].turned ? -fine : fine;
        if (grades_[g].turned) offset_ += fine;
    }
    energy_.set(coefficients_);
}

// The same during a walk.
void BlockSearch::change_shares(double share) {
    if (open_laws_.empty()) return;
    set_shares(share);
    walk_.start(World(walk_.world()));
}

void BlockSearch::start(const World& from) {
    walk_.start(from);
    inside_ = 0;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
        const SearchBlock& own = blocks_[b];
        const auto matches = [&](std::size_t s) {
            for (std::size_t k = 0; k < own.block.variables.size(); ++k)
                if (own.block.value(s, k) != from[static_cast<std::size_t>(own.block.variables[k])]) return false;
            return true;
        };
        std::size_t s = 0;
        while (s < own.block.size() && !matches(s)) ++s;
        state_[b] = s;
        if (s == own.block.size()) {  // in no state: use the first
            state_[b] = 0;
            for (std::size_t k = 0; k < own.block.variables.size(); ++k)
                if (own.block.value(0, k) != from[static_cast<std::size_t>(own.block.variables[k])])
                    walk_.flip(static_cast<std::size_t>(own.block.variables[k]));
        }
        inside_ += own.inside[state_[b]];
    }
    best_energy_ = infinity;
    best_.clear();
}

bool BlockSearch::obeys(const World& world) const {
    return std::all_of(open_laws_.begin(), open_laws_.end(), [&](std::size_t law) { return space_.obeys(world, law); });
}

// The energy that each variable of a block adds if it is true, without the knots.
void BlockSearch::fill_fields(std::size_t b) {
    const SearchBlock& own = blocks_[b];
    const World& world = walk_.world();
    fields_.resize(own.block.variables.size());
    for (std::size_t k = 0; k < fields_.size(); ++k) {
        const auto v = static_cast<std::size_t>(own.block.variables[k]);
        fields_[k] = world[v] ? -walk_.gains()[v] : walk_.gains()[v];
    }
    for (const Knot& knot : own.knots) {
        const LargeEvent& large = energy_.large()[knot.large];
        const std::uint32_t row = walk_.row(knot.large);
        const double c = energy_.coefficient(large);
        const int now = large.holds(row);
        for (const auto& [i, k] : knot.places) {
            const bool value = world[static_cast<std::size_t>(own.block.variables[k])];
            const int change = large.holds(large.turned(row, i, !value)) - now;
            fields_[k] -= c * (value ? -change : change);
        }
    }
}

// The energy of each state of a block, up to a constant.
void BlockSearch::fill_energies(std::size_t b) {
    const SearchBlock& own = blocks_[b];
    fill_fields(b);
    energies_.resize(own.block.size());
    double sum = 0;
    for (std::size_t s = 0; s < energies_.size(); ++s) {
        for (const Turn& turn : turns(own, s)) sum += turn.value ? fields_[turn.position] : -fields_[turn.position];
        energies_[s] = sum + own.inside[s];
    }
    for (const Knot& knot : own.knots) {
        const LargeEvent& large = energy_.large()[knot.large];
        const double c = energy_.coefficient(large);
        const std::uint32_t rest = walk_.row(knot.large) - knot.parts[state_[b]];
        for (std::size_t s = 0; s < energies_.size(); ++s)
            if (large.holds(rest + knot.parts[s])) energies_[s] += c;
    }
}

// The change of energy if a block of one variable turns.
double BlockSearch::turning(std::size_t b) const {
    const SearchBlock& own = blocks_[b];
    return walk_.gains()[static_cast<std::size_t>(own.block.variables[0])] + own.inside[1 - state_[b]] -
           own.inside[state_[b]];
}

// The best other state of a block, and its change of energy.
void BlockSearch::look(std::size_t b) {
    if (blocks_[b].is_single) {
        next_[b] = 1 - state_[b];
        change_[b] = turning(b);
        return;
    }
    fill_energies(b);
    const double here = energies_[state_[b]];
    energies_[state_[b]] = infinity;
    const auto least = std::min_element(energies_.begin(), energies_.end());
    next_[b] = static_cast<std::size_t>(least - energies_.begin());
    change_[b] = *least - here;
}

void BlockSearch::touch(std::size_t b) {
    if (is_touched_[b]) return;
    is_touched_[b] = 1;
    touched_.push_back(b);
}

// Sets a block to a state, and notes the blocks whose energies change.
void BlockSearch::go(std::size_t b, std::size_t state) {
    const SearchBlock& own = blocks_[b];
    for (std::size_t k = 0; k < own.block.variables.size(); ++k) {
        const auto v = static_cast<std::size_t>(own.block.variables[k]);
        if (walk_.world()[v] == own.block.value(state, k)) continue;
        walk_.flip(v);
        for (const std::int32_t w : energy_.neighbours(v))
            touch(static_cast<std::size_t>(block_of_[static_cast<std::size_t>(w)]));
        for (const auto& place : energy_.places(v))
            for (const std::int32_t w : energy_.large()[static_cast<std::size_t>(place.large)].variables)
                touch(static_cast<std::size_t>(block_of_[static_cast<std::size_t>(w)]));
    }
    inside_ += own.inside[state] - own.inside[state_[b]];
    state_[b] = state;
    touch(b);
}

void BlockSearch::refresh() {
    for (const std::size_t b : touched_) {
        is_touched_[b] = 0;
        look(b);
        if (std::isfinite(tournament_.value(b))) tournament_.set(b, change_[b]);
    }
    touched_.clear();
}

bool BlockSearch::note() {
    if (!(energy() < best_energy_ - rounding_) || !obeys(walk_.world())) return false;
    best_ = walk_.world(), best_energy_ = energy();
    return true;
}

void BlockSearch::run(const World& from, std::size_t patience, double threshold, std::vector<Found>& found) {
    start(from);
    note();
    std::fill(free_at_.begin(), free_at_.end(), std::size_t{0});
    tabu_.clear();
    tournament_.reset(blocks_.size());
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
        look(b);
        if (blocks_[b].block.size() > 1) tournament_.set(b, change_[b]);
    }
    const std::size_t tenure = std::min<std::size_t>(blocks_.size() / 10, 20);
    bool fresh = true;         // the next minimum is a new one
    std::size_t possible = 0;  // possible worlds since the last change of penalties
    for (std::size_t move = 1, last = 0; move - last <= patience; ++move) {
        bool minimum = true;
        std::erase_if(tabu_, [&](std::size_t b) {
            minimum = minimum && change_[b] >= 0;
            if (free_at_[b] > move) return false;
            tournament_.set(b, change_[b]);
            return true;
        });
        const std::size_t b = tournament_.least();
        minimum = minimum && !(tournament_.value(b) < 0);
        if (minimum && fresh && energy() < threshold && obeys(walk_.world()))
            found.push_back({energy(), walk_.world()});
        fresh = !minimum;
        if (!std::isfinite(tournament_.value(b))) continue;
        tournament_.set(b, infinity);
        go(b, next_[b]);
        refresh();
        free_at_[b] = move + 2 + tenure + random_.below(tenure + 3);
        tabu_.push_back(b);
        if (note()) last = move;
        if (open_laws_.empty()) continue;
        possible += obeys(walk_.world());
        if (move % oscillation != 0) continue;
        oscillate(possible);
        possible = 0;
    }
    if (!open_laws_.empty()) set_shares(1.0);
    if (!open_laws_.empty() && best_energy_ < threshold) found.push_back({best_energy_, best_});
}

// Lowers all penalties if no law was broken for some time, and raises those of broken laws if no world was possible for
// some time (as the clause weights of Morris 1993, The breakout method).
void BlockSearch::oscillate(std::size_t possible) {
    if (possible > 0 && possible < oscillation) return;
    const std::vector<double> before = share_;
    for (std::size_t i = 0; i < open_laws_.size(); ++i) {
        if (possible > 0) share_[i] = std::max(least_share, cheaper * share_[i]);
        else if (!space_.obeys(walk_.world(), open_laws_[i])) share_[i] /= cheaper;
    }
    if (share_ == before) return;
    apply_shares();
    walk_.start(World(walk_.world()));
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
        look(b);
        if (std::isfinite(tournament_.value(b))) tournament_.set(b, change_[b]);
    }
}

// Draws a state of a block by its probability at a temperature (Geman and Geman 1984); for two states by Metropolis's
// rule.
std::size_t BlockSearch::draw(std::size_t b, double temperature) {
    if (blocks_[b].is_single) {
        const double gain = turning(b);
        const bool turns = gain <= 0 || (gain < 12 * temperature && random_.uniform() < std::exp(-gain / temperature));
        return turns ? 1 - state_[b] : state_[b];
    }
    fill_energies(b);
    const double least = *std::min_element(energies_.begin(), energies_.end());
    double total = 0;
    for (double& value : energies_) {
        const double above = value - least;
        value = total += above <= 0 ? 1.0 : above < 12 * temperature ? std::exp(-above / temperature) : 0.0;
    }
    const auto place =
        std::upper_bound(energies_.begin(), energies_.end(), random_.uniform() * total) - energies_.begin();
    return std::min(static_cast<std::size_t>(place), energies_.size() - 1);
}

void BlockSearch::anneal(std::size_t sweeps) {
    World from(space_.n_variables());
    for (const SearchBlock& own : blocks_) {
        const std::size_t s = random_.below(own.block.size());
        for (std::size_t k = 0; k < own.block.variables.size(); ++k)
            from[static_cast<std::size_t>(own.block.variables[k])] = own.block.value(s, k);
    }
    if (!open_laws_.empty()) set_shares(1.0 / raises);
    start(from);
    double temperature = 0;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
        fill_energies(b);
        const auto [low, high] = std::minmax_element(energies_.begin(), energies_.end());
        temperature += (*high - *low) / static_cast<double>(blocks_.size());
    }
    const double cooling = std::pow(0.02, 1.0 / static_cast<double>(sweeps));
    const std::size_t stage = sweeps / raises;
    for (std::size_t sweep = 0; sweep < sweeps; ++sweep, temperature *= cooling) {
        if (!open_laws_.empty() && sweep % stage == 0) {
            const std::size_t stages = sweep / stage + 1;
            change_shares(static_cast<double>(stages) / static_cast<double>(raises));
        }
        for (std::size_t b = 0; b < blocks_.size(); ++b)
            if (const std::size_t drawn = draw(b, temperature); drawn != state_[b]) go(b, drawn);
    }
    change_shares(1.0);
    for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            look(b);
            if (change_[b] < -rounding_) go(b, next_[b]), moved = true;
        }
    }
    for (const std::size_t b : touched_) is_touched_[b] = 0;
    touched_.clear();
    note();
}

void BlockSearch::cross(World& world, const World& other, Random& random) const {
    for (const SearchBlock& own : blocks_) {
        if (!(random.next() >> 63)) continue;
        for (const std::int32_t v : own.block.variables)
            world[static_cast<std::size_t>(v)] = other[static_cast<std::size_t>(v)];
    }
}

}  // namespace coherently
