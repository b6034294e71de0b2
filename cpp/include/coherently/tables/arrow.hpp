// Texts from the Arrow C stream interface (https://arrow.apache.org/docs/format/CStreamInterface.html).
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "coherently/tables/text_pool.hpp"

extern "C" {

struct ArrowSchema {
    const char* format;
    const char* name;
    const char* metadata;
    std::int64_t flags;
    std::int64_t n_children;
    ArrowSchema** children;
    ArrowSchema* dictionary;
    void (*release)(ArrowSchema*);
    void* private_data;
};

struct ArrowArray {
    std::int64_t length;
    std::int64_t null_count;
    std::int64_t offset;
    std::int64_t n_buffers;
    std::int64_t n_children;
    const void** buffers;
    ArrowArray** children;
    ArrowArray* dictionary;
    void (*release)(ArrowArray*);
    void* private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
    int (*get_next)(ArrowArrayStream*, ArrowArray*);
    const char* (*get_last_error)(ArrowArrayStream*);
    void (*release)(ArrowArrayStream*);
    void* private_data;
};
}

namespace coherently {

// A text that is not UTF-8; `row` counts from 0, in all that `codes` has.
struct BrokenText : std::runtime_error {
    explicit BrokenText(std::size_t row) : std::runtime_error("a text is not UTF-8"), row(row) {}
    std::size_t row;
};

// Appends the number of each text of a stream, stripped, to `codes`, and -1 for null; new texts join the pool. False,
// and nothing is read, if the stream has something other than texts or a dictionary of texts. The stream is used up. A
// failure of the stream throws std::runtime_error, a text that is not UTF-8 throws BrokenText.
bool encode_stream(ArrowArrayStream& stream, TextPool& pool, std::vector<std::int32_t>& codes);

}  // namespace coherently
