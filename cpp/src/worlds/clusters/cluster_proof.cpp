#include "coherently/worlds/clusters/cluster_proof.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace coherently {
namespace {

constexpr std::size_t root_sweeps = 2048, sweeps = 24;
constexpr double worthwhile = 0.01;  // the part of the gap that a sweep must close to go on
constexpr double root_worthwhile = 0.0003;
constexpr double taken = 0.3;       // the part of the gap that messages must close to be used by the branches below
constexpr double finest = 0x1p-36;  // the least slack, as a part of the sum of all sizes of coefficients
constexpr double roundings = 16;    // the slack is at least so many units for each event

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

// The truth of a function for each combination of states of its nodes.
Table truth_of(const LargeEvent& function, const Nodes& nodes, std::span<const std::int32_t> states) {
    Table table{nodes.touched(function.variables), {}};
    std::vector<std::uint32_t> rows{0}, next;
    for (const std::int32_t node : table.scope) {
        next.clear();
        for (const std::uint32_t row : rows)
            for (std::int32_t s = 0; s < states[at(node)]; ++s) {
                std::uint32_t more = 0;
                for (std::size_t i = 0; i < function.variables.size(); ++i)
                    if (nodes.of(function.variables[i]) == node)
                        more += function.part(i, nodes.value(function.variables[i], at(s)));
                next.push_back(row + more);
            }
        rows.swap(next);
    }
    for (const std::uint32_t row : rows) table.entries.push_back(function.holds(row));
    return table;
}

}  // namespace

ClusterProof::ClusterProof(const EventView& events, const Space* space, double cells, double elimination)
    : events_(events),
      free_(events.n_variables, {}, {}, {}),
      space_(space),
      nodes_(space ? *space : free_),
      cells_(cells),
      elimination_(elimination) {
    for (std::size_t node = 0; node < nodes_.size(); ++node)
        states_.push_back(static_cast<std::int32_t>(nodes_.states(node)));
}

bool ClusterProof::prepare() {
    if (is_prepared_) return true;
    narrow_.clear(), truth_.clear(), laws_.clear(), has_wide_ = false;
    std::vector<Scope> scopes;
    const EventView laws = space_ ? space_->laws() : free_.laws();
    const auto size_of = [&](std::span<const std::int32_t> variables) {
        return cells_of(nodes_.touched(variables), states_);
    };
    double all = 0;
    for (const EventView& view : {events_, laws})
        for (std::size_t j = 0; j < view.size(); ++j)
            if (const double size = size_of(view.variables_of(j)); size <= largest_table) all += size;
    const double largest = all <= all_cells ? largest_table : smaller_table;
    const auto is_narrow = [&](std::span<const std::int32_t> variables) { return size_of(variables) <= largest; };
    for (std::size_t j = 0; j < events_.size() && !stopped_; ++j) {
        if (events_.variables_of(j).empty()) continue;
        if (!is_narrow(events_.variables_of(j))) {
            has_wide_ = true;
            continue;
        }
        narrow_.push_back(j);
        truth_.push_back(truth_of(function_of(events_, j), nodes_, states_));
        scopes.push_back(truth_.back().scope);
    }
    for (std::size_t i = 0; i < laws.size() && !stopped_; ++i) {
        if (!is_narrow(laws.variables_of(i))) {
            has_wide_ = true;
            continue;
        }
        Table law = truth_of(function_of(laws, i), nodes_, states_);
        for (double& entry : law.entries) entry = (entry > 0) == space_->truth(i) ? 0.0 : Table::forbidden;
        scopes.push_back(law.scope);
        laws_.push_back(std::move(law));
    }
    graph_ =
        ClusterGraph(scopes, states_, std::min(cells_, all_cells / static_cast<double>(scopes.size() + 1)), stopped_);
    is_prepared_ = !stopped_;
    return is_prepared_;
}

void ClusterProof::start(std::span<const double> coefficients, const World& known, double slack, bool keep) {
    double total = 0;
    for (const double c : coefficients) total += std::abs(c);
    const auto events = static_cast<double>(coefficients.size() + 1);
    slack = std::max({slack, finest * total, 0x1p-900});
    // Rounding down to units loses less than one of them for each event, and units are so large that sums are exact.
    unit_ = std::exp2(std::ceil(std::log2(std::max(slack / (2 * roundings * events), total / ClusterDual::heaviest))));
    slack_ = std::max(0.0, std::floor(slack / unit_) - events);
    coefficients_.clear();
    for (const double c : coefficients) coefficients_.push_back(std::floor(c / unit_));
    best_ = whole(known), first_cutoff_ = cutoff();
    has_begun_ = false, keep_ = keep, visited_ = enough_ = kept_cells_ = stored_ = 0;
    better_.clear(), open_.clear(), tree_.clear();
    stopped_ = false;
}

bool ClusterProof::begin() {
    if (!prepare()) return false;
    Open root{nullptr, {}, std::vector<std::int32_t>(states_.size(), -1), keep_ ? 0 : -1};
    rest_ = lowest();
    for (std::size_t i = 0; i < narrow_.size(); ++i) {
        const double c = coefficients_[narrow_[i]];
        rest_ -= std::min(0.0, c);
        root.tables.push_back(truth_[i]);
        for (double& entry : root.tables.back().entries) entry = entry > 0 ? c : 0.0;
    }
    for (std::size_t j = 0; j < events_.size(); ++j)  // events that never hold
        if (events_.variables_of(j).empty()) rest_ -= std::min(0.0, coefficients_[j]);
    root.dual = std::make_unique<ClusterDual>(graph_, root.tables, laws_, states_, stopped_);
    if (stopped_) return false;
    root.tables.insert(root.tables.end(), laws_.begin(), laws_.end());
    stored_ = root.dual->size(), proved_ = Table::forbidden;
    tree_.assign(keep_, {});
    open_.push_back(std::move(root));
    has_begun_ = true;
    return true;
}

double ClusterProof::lowest() const {
    double sum = 0;
    for (const double c : coefficients_) sum += std::min(0.0, c);
    return sum;
}

double ClusterProof::whole(const World& world) const {
    double sum = 0;
    for (std::size_t j = 0; j < events_.size(); ++j) {
        if (events_.variables_of(j).empty()) continue;
        const LargeEvent event = function_of(events_, j);
        if (event.holds(event.row(world))) sum += coefficients_[j];
    }
    return sum;
}

bool ClusterProof::run(std::size_t nodes, bool hasty) {
    if (!has_begun_ && !begin()) {
        stopped_ = false;
        return false;
    }
    while (!open_.empty() && visited_ < nodes && stored_ < most_stored && !stopped_) {
        if (hasty && enough_ > 0 && visited_ >= enough_) break;
        Open open = std::move(open_.back());
        open_.pop_back();
        visit(std::move(open));
    }
    stopped_ = false;
    return open_.empty();
}

double ClusterProof::bound() const {
    double least = has_begun_ ? proved_ : lowest();
    for (const Open& open : open_) least = std::min(least, open.dual->bound() + rest_);
    return unit_ * std::min(least, best_);
}

const std::vector<ClusterProof::Branch>& ClusterProof::tree() const {
    static const std::vector<Branch> none;
    return has_begun_ && open_.empty() && keep_ && kept_cells_ <= most_kept ? tree_ : none;
}

ClusterProof::Branch* ClusterProof::kept(const Open& open) {
    return open.kept < 0 || kept_cells_ > most_kept ? nullptr : &tree_[at(open.kept)];
}

void ClusterProof::visit(Open open) {
    ++visited_;
    if (open.dual->bound() + rest_ < cutoff()) {
        if (eliminate(open)) {
            stored_ -= open.dual->size();
            return;
        }
        if (!tighten(open)) {  // stopped: for the next run
            --visited_;
            open_.push_back(std::move(open));
            return;
        }
    }
    stored_ -= open.dual->size();
    if (open.dual->bound() + rest_ >= cutoff()) proved_ = std::min(proved_, open.dual->bound() + rest_);
    else branch(std::move(open));
}

bool ClusterProof::eliminate(const Open& open) {
    std::vector<Scope> scopes;
    for (const Table& table : open.tables)
        if (!table.scope.empty()) scopes.push_back(table.scope);
    const bool is_empty = scopes.empty();
    const bool is_whole = std::find(open.states.begin(), open.states.end(), -1) == open.states.end();
    const EliminationOrder order = small_order(scopes, states_, elimination_);
    if (order.nodes.empty() && !is_empty) return false;
    auto states = open.states;
    for (std::int32_t& state : states) state = std::max(state, 0);
    double least = least_by_elimination(open.tables, order.nodes, states_, states) + rest_;
    World world(events_.n_variables);
    for (std::size_t node = 0; node < states.size(); ++node) nodes_.put(node, at(states[node]), world);
    const bool is_possible = least < Table::forbidden && (!space_ || space_->allows(world));
    const double value = is_possible ? whole(world) : Table::forbidden;
    if (value < best_) {
        best_ = value;
        if (enough_ == 0 && value < first_cutoff_) enough_ = 4 * visited_;
        better_.push_back(std::move(world));
    }
    if (has_wide_ && is_whole) least = value;
    if (has_wide_ && !is_whole && least < cutoff()) return false;  // what wide events add is not known yet
    proved_ = std::min(proved_, least);
    if (Branch* branch = kept(open)) branch->is_eliminated = true, branch->order = order.nodes;
    return true;
}

bool ClusterProof::tighten(Open& open) {
    ClusterDual dual = *open.dual;
    const double before = dual.bound(), gap = cutoff() - rest_ - before;
    double last = before;
    const std::size_t most = visited_ == 1 ? root_sweeps : sweeps;
    const double least_gain = visited_ == 1 ? root_worthwhile : worthwhile;
    for (std::size_t i = 0; i < most; ++i) {
        dual.sweep(stopped_);
        if (stopped_) return false;
        const double left = cutoff() - rest_ - last, gained = dual.bound() - last;
        if (gained >= left || gained < least_gain * left) break;
        last = dual.bound();
    }
    const bool is_leaf = dual.bound() + rest_ >= cutoff();
    if (!is_leaf && !(dual.bound() - before > taken * gap)) return true;
    *open.dual = std::move(dual);
    if (kept(open)) coarsen(open, is_leaf);
    return true;
}

void ClusterProof::coarsen(Open& open, bool is_leaf) {
    Branch& branch = *kept(open);
    // Fewer digits of messages take less room; a leaf must still reach the cutoff, other branches nearly what they had.
    const double needed =
        is_leaf ? cutoff() - rest_ : open.dual->bound() - 0.02 * (cutoff() - rest_ - open.dual->bound());
    const double spare = std::max(1.0, open.dual->bound() - needed);
    int shift = 0;
    for (int finer = std::min(40, std::ilogb(spare)); finer > 0 && shift == 0 && !stopped_; --finer) {
        ClusterDual coarse = *open.dual;
        if (!coarse.coarsen(std::ldexp(1.0, finer)) || coarse.bound() < needed) continue;
        *open.dual = std::move(coarse);
        shift = finer;
    }
    branch.shift = shift;
    branch.messages = open.dual->sent();
    for (auto& message : branch.messages) {
        for (double& value : message.values) value = std::ldexp(value, -shift);
        kept_cells_ += message.values.size();
    }
}

std::int32_t ClusterProof::branching_node(const Open& open) const {
    std::vector<Scope> near(states_.size());
    std::vector<std::size_t> count(states_.size());
    for (const Table& table : open.tables)
        for (const std::int32_t node : table.scope) {
            ++count[at(node)];
            near[at(node)].insert(near[at(node)].end(), table.scope.begin(), table.scope.end());
        }
    // Where only wide events are left, the first open node.
    auto best = static_cast<std::int32_t>(std::find(open.states.begin(), open.states.end(), -1) - open.states.begin());
    std::pair<std::size_t, std::size_t> most;
    for (std::size_t node = 0; node < near.size(); ++node) {
        std::sort(near[node].begin(), near[node].end());
        const auto end = std::unique(near[node].begin(), near[node].end());
        const std::pair now(static_cast<std::size_t>(end - near[node].begin()), count[node]);
        if (now > most) best = static_cast<std::int32_t>(node), most = now;
    }
    return best;
}

void ClusterProof::branch(Open open) {
    const std::int32_t node = branching_node(open);
    std::vector<Open> children;
    for (std::int32_t state = 0; state < states_[at(node)]; ++state) {
        Open child{std::make_unique<ClusterDual>(open.dual->fixed(node, state)), {}, open.states, -1};
        stored_ += child.dual->size();
        for (const Table& table : open.tables) child.tables.push_back(at_state(table, node, state, states_));
        child.states[at(node)] = state;
        if (kept(open)) child.kept = static_cast<std::int32_t>(tree_.size()), tree_.emplace_back();
        children.push_back(std::move(child));
    }
    if (Branch* own = kept(open)) {
        own->node = node;
        for (const Open& child : children) own->children.push_back(child.kept);
    }
    // The child of the least bound comes first.
    std::stable_sort(children.begin(), children.end(),
                     [](const Open& x, const Open& y) { return x.dual->bound() > y.dual->bound(); });
    for (Open& child : children) open_.push_back(std::move(child));
}

}  // namespace coherently
