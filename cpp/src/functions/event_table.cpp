#include "coherently/functions/event_table.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>

#include "groups/parallel.hpp"

namespace coherently {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15;
    return hash ^ hash >> 29;
}

std::uint32_t hash_of(const Function& function) {
    std::uint64_t hash = mix(0x243F6A8885A308D3, static_cast<std::uint64_t>(function.kind));
    for (const std::int32_t variable : function.variables) hash = mix(hash, static_cast<std::uint64_t>(variable));
    for (const std::uint64_t word : function.words) hash = mix(hash, word);
    return static_cast<std::uint32_t>(hash >> 32);
}

bool same(const Function& a, const Function& b) {
    return a.kind == b.kind && std::ranges::equal(a.variables, b.variables) && std::ranges::equal(a.words, b.words);
}

// Gives numbers past the table's own to names and atoms that the table does not have.
class Overlay final : public Resolver {
public:
    explicit Overlay(const Names& base) : base_(base) {}
    std::int32_t resolve(std::string_view name) override {
        const std::int32_t known = base_.find(name);
        return known != -1 ? known : number(names_.try_emplace(std::string(name), 0));
    }
    const Declaration* declaration(std::string_view name) const override { return base_.declaration(name); }
    std::int32_t atom(const Declaration& declaration, const Cut& cut) override {
        const auto known = declaration.atoms.find(cut);
        if (known != declaration.atoms.end()) return known->second;
        return number(atoms_.try_emplace({&declaration, cut}, 0));
    }

private:
    template <typename Found>
    std::int32_t number(const std::pair<Found, bool>& place) {
        if (place.second) place.first->second = static_cast<std::int32_t>(base_.size()) + extra_++;
        return place.first->second;
    }

    const Names& base_;
    std::unordered_map<std::string, std::int32_t> names_;
    std::map<std::pair<const Declaration*, Cut>, std::int32_t> atoms_;
    std::int32_t extra_ = 0;
};

template <typename Number>  // Number: OwnedFunction -> side
Sides sides_of(const Meaning& meaning, Number&& number) {
    Sides sides{number(meaning.event), 1, -1};
    if (meaning.condition.constant()) {
        sides.otherwise = sides.event < 0 ? -1 : sides.event ^ 1;
    } else {
        sides.condition = number(meaning.condition);
        sides.otherwise = number(meaning.otherwise);
    }
    return sides;
}

// Knows the names and atoms of a table, and notes that it was asked for another one.
class KnownOnly final : public Resolver {
public:
    explicit KnownOnly(const Names& base) : base_(base) {}
    std::int32_t resolve(std::string_view name) override { return noted(base_.find(name)); }
    const Declaration* declaration(std::string_view name) const override { return base_.declaration(name); }
    std::int32_t atom(const Declaration& declaration, const Cut& cut) override {
        const auto known = declaration.atoms.find(cut);
        return noted(known == declaration.atoms.end() ? -1 : known->second);
    }
    bool was_asked_for_more = false;

private:
    std::int32_t noted(std::int32_t number) {
        if (number != -1) return number;
        was_asked_for_more = true;
        return 0;
    }

    const Names& base_;
};

// Understands texts, with its buffers; one for each thread.
class TextReader {
public:
    TextReader(const Alphabet& alphabet, std::size_t max_characters)
        : alphabet_(alphabet), max_characters_(max_characters) {}

    // False, with a fault, for a text that cannot be read.
    bool read(std::string_view text, Resolver& resolver, Meaning& meaning, TextFault& found) {
        try {
            parse(text, alphabet_, max_characters_, resolver, formula_);
            canonicaliser_.run(formula_, resolver, meaning);
            return true;
        } catch (const TextError& error) {
            const bool whole = error.fault == Fault::limit && error.position == 0;
            const std::size_t column =
                whole || error.fault == Fault::impossible ? 0 : characters(text, error.position) + 1;
            found = {0, error.fault, column, error.what()};
            return false;
        }
    }

    // The same of a text whose names and atoms are known; false for any other, and for one with a fault.
    bool read_known(std::string_view text, const Names& names, Meaning& meaning) {
        KnownOnly known(names);
        try {
            parse(text, alphabet_, max_characters_, known, formula_);
            if (!known.was_asked_for_more) canonicaliser_.run(formula_, known, meaning);
        } catch (const TextError&) {
            return false;
        }
        return !known.was_asked_for_more;
    }

private:
    const Alphabet& alphabet_;
    std::size_t max_characters_;
    Formula formula_;
    Canonicaliser canonicaliser_;
};

// Texts are understood some at a time before their events are numbered: `fetch` asks for what `number` will need.
template <typename Fetch, typename Number>  // Number: OwnedFunction -> side
void read(std::span<const std::string_view> texts, TextReader& reader, Resolver& resolver, Fetch&& fetch,
          Number&& number, Batch& batch) {
    constexpr std::size_t at_once = 16;
    std::array<Meaning, at_once> meanings;
    std::array<bool, at_once> is_read{};
    for (std::size_t begin = 0; begin < texts.size(); begin += at_once) {
        const std::size_t end = std::min(begin + at_once, texts.size()), before = batch.sides.size();
        for (std::size_t i = begin; i < end; ++i) {
            TextFault found;
            is_read[i - begin] = reader.read(texts[i], resolver, meanings[i - begin], found);
            if (is_read[i - begin]) {
                fetch(meanings[i - begin].event);
            } else {
                found.text = before + i - begin;
                batch.faults.push_back(std::move(found));
            }
        }
        for (std::size_t i = 0; i < end - begin; ++i)
            batch.sides.push_back(is_read[i] ? sides_of(meanings[i], number) : Sides{-1, -1, -1});
    }
}

}  // namespace

std::int32_t Names::resolve(std::string_view name) {
    const auto found = numbers_.find(name);
    if (found != numbers_.end()) return found->second;
    const auto number = static_cast<std::int32_t>(names_.size());
    numbers_.emplace(names_.emplace_back(name), number);
    owners_.push_back(-1);
    return number;
}

std::int32_t Names::find(std::string_view name) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? -1 : found->second;
}

const Declaration* Names::declaration(std::string_view name) const {
    const std::int32_t number = find(name);
    return number < -1 ? &declarations_[static_cast<std::size_t>(-2 - number)] : nullptr;
}

std::int32_t Names::atom(const Declaration& declaration, const Cut& cut) {
    const std::int32_t declared = -2 - find(declaration.name);
    const auto number = static_cast<std::int32_t>(names_.size());
    const auto [place, fresh] = declarations_[static_cast<std::size_t>(declared)].atoms.try_emplace(cut, number);
    if (fresh) {
        names_.push_back(declaration.write(cut));
        owners_.push_back(declared);
    }
    return place->second;
}

bool Names::declare(Declaration&& declaration) {
    if (find(declaration.name) != -1) return false;
    const auto number = -2 - static_cast<std::int32_t>(declarations_.size());
    numbers_.emplace(declarations_.emplace_back(std::move(declaration)).name, number);
    return true;
}

EventTable::EventTable() : slots_(64) {
    OwnedFunction never;
    never.words = {0};
    intern(never);
}

Function EventTable::function(std::int32_t coordinate) const {
    const auto i = static_cast<std::size_t>(coordinate);
    const auto slice = [&](const auto& pool, const auto& starts) {
        return std::span(pool).subspan(static_cast<std::size_t>(starts[i]),
                                       static_cast<std::size_t>(starts[i + 1] - starts[i]));
    };
    return {kinds_[i], slice(variables_, variable_starts_), slice(words_, word_starts_)};
}

// The slot that holds the function, or the free one where it belongs.
std::size_t EventTable::slot_of(const Function& wanted, std::uint32_t hash) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = hash & mask;
    while (slots_[slot].coordinate >= 0 &&
           !(slots_[slot].hash == hash && same(function(slots_[slot].coordinate), wanted)))
        slot = (slot + 1) & mask;
    return slot;
}

void EventTable::fetch(const OwnedFunction& owned) const {
    __builtin_prefetch(&slots_[hash_of(owned.view()) & (slots_.size() - 1)]);
}

std::int32_t EventTable::intern(const OwnedFunction& owned) {
    const Function wanted = owned.view();
    const std::uint32_t hash = hash_of(wanted);
    const std::size_t slot = slot_of(wanted, hash);
    std::int32_t coordinate = slots_[slot].coordinate;
    if (coordinate < 0) {
        if (kinds_.size() >= std::size_t{1} << 30) throw std::length_error("more than 2^30 distinct events");
        coordinate = static_cast<std::int32_t>(kinds_.size());
        slots_[slot] = {hash, coordinate};
        kinds_.push_back(wanted.kind);
        variables_.insert(variables_.end(), wanted.variables.begin(), wanted.variables.end());
        words_.insert(words_.end(), wanted.words.begin(), wanted.words.end());
        variable_starts_.push_back(static_cast<std::int64_t>(variables_.size()));
        word_starts_.push_back(static_cast<std::int64_t>(words_.size()));
        grow(kinds_.size());
    }
    return 2 * coordinate + owned.complemented;
}

void EventTable::grow(std::size_t events) {
    std::size_t wanted = slots_.size();
    while (3 * events > 2 * wanted) wanted *= 2;
    if (wanted == slots_.size()) return;
    std::vector<Slot> larger(wanted);
    const std::size_t mask = larger.size() - 1;
    for (const Slot& old : slots_) {
        if (old.coordinate < 0) continue;
        std::size_t slot = old.hash & mask;
        while (larger[slot].coordinate >= 0) slot = (slot + 1) & mask;
        larger[slot] = old;
    }
    slots_ = std::move(larger);
}

std::int32_t EventTable::look_up(const OwnedFunction& owned) const {
    const std::int32_t coordinate = slots_[slot_of(owned.view(), hash_of(owned.view()))].coordinate;
    return coordinate < 0 ? -1 : 2 * coordinate + owned.complemented;
}

// A turn of texts is understood by several threads as far as its names and atoms are known, and numbered by one, in
// order; what remains is read by that one as it meets it. So numbers do not depend on threads. A turn after one that
// had many new names is not worth it.
Batch EventTable::add(std::span<const std::string_view> texts, const Alphabet& alphabet, std::size_t max_characters,
                      unsigned threads) {
    constexpr std::size_t piece = 1024, pieces = 16, turn = piece * pieces, few = 8;
    if (threads == 0) threads = count_processors();
    grow(kinds_.size() + texts.size());  // at most so many, and one step is cheaper than many
    Batch batch;
    batch.sides.reserve(texts.size());
    const auto fetched = [this](const OwnedFunction& f) { fetch(f); };
    const auto numbered = [this](const OwnedFunction& f) { return intern(f); };
    TextReader own(alphabet, max_characters);
    std::vector<Meaning> meanings;
    std::vector<char> is_read;
    while (!texts.empty()) {
        const auto now = texts.first(std::min(turn, texts.size()));
        const std::size_t names = names_.size();
        if (threads == 1 || meanings.empty() || now.size() < turn) {
            read(now, own, names_, fetched, numbered, batch);
        } else {
            in_parallel(pieces, threads, [&](std::size_t part) {
                TextReader reader(alphabet, max_characters);
                for (std::size_t i = part * piece; i < (part + 1) * piece; ++i)
                    is_read[i] = reader.read_known(now[i], names_, meanings[i]);
            });
            for (std::size_t i = 0; i < turn; ++i) {
                if (i + few < turn && is_read[i + few]) fetch(meanings[i + few].event);
                if (is_read[i]) batch.sides.push_back(sides_of(meanings[i], numbered));
                else read(now.subspan(i, 1), own, names_, fetched, numbered, batch);
            }
        }
        const bool is_worth_it = (names_.size() - names) * few < now.size();
        meanings.resize(is_worth_it ? turn : 0);
        is_read.resize(meanings.size());
        texts = texts.subspan(now.size());
    }
    return batch;
}

Batch EventTable::find(std::span<const std::string_view> texts, const Alphabet& alphabet,
                       std::size_t max_characters) const {
    Overlay overlay(names_);
    TextReader reader(alphabet, max_characters);
    Batch batch;
    read(
        texts, reader, overlay, [this](const OwnedFunction& f) { fetch(f); },
        [this](const OwnedFunction& f) { return look_up(f); }, batch);
    return batch;
}

void EventTable::declare(std::string_view text, const Alphabet& alphabet, bool free) {
    Declaration declaration = parse_declaration(text, alphabet);
    declaration.free = free;
    const std::string name = declaration.written_name;
    const bool again = names_.declaration(declaration.name) != nullptr;
    if (names_.declare(std::move(declaration))) return;
    throw TextError(Fault::mismatch, 0,
                    again ? name + " is declared before; declare a variable once, with all its values"
                          : name + " is used before as a variable that is true or false; rename one of the two");
}

std::int32_t EventTable::add_variable(std::string_view name) {
    OwnedFunction identity;
    identity.variables = {names_.resolve(name)};
    if (identity.variables[0] < 0) return -1;
    identity.words = {2};
    return intern(identity);
}

}  // namespace coherently
