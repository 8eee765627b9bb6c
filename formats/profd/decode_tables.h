// The table messages of a profile; the inside of decode_profile.cpp.
#pragma once

#include <memory>

#include "core/model/profile.h"
#include "formats/profd/column_reader.h"

namespace profd::profd_format {

Result<StringTable> decode_strings(const Field& field, const ColumnBytes::Sink& sink);
Result<ModuleTable> decode_modules(const Field& field, const ColumnBytes::Sink& sink);
Result<FunctionTable> decode_functions(const Field& field, const ColumnBytes::Sink& sink);
Result<FrameTable> decode_frames(const Field& field, const ColumnBytes::Sink& sink);
Result<PieceTable> decode_pieces(const Field& field, const ColumnBytes::Sink& sink);
Result<ThreadTable> decode_threads(const Field& field, const ColumnBytes::Sink& sink);
Result<LabelTable> decode_labels(const Field& field, const ColumnBytes::Sink& sink);
// Complete; what is in the columns check_branches() tells.
Result<std::shared_ptr<const BranchStacks>> decode_branches(const Field& field,
                                                            const ColumnBytes::Sink& sink);
Result<void> check_branches(const ProfileData& data, bool loose);
Result<Timeline> decode_timeline(const Field& field, const ColumnBytes::Sink& sink);

Result<void> complete_tables(ProfileData& data);
// The optional columns of a timeline stay away; the others have a row for each of their table.
Result<void> complete_timeline(const ProfileData& data, bool loose);

// One column of a message that has nothing else: Ids.
Result<Column<std::uint32_t>> decode_ids(const Field& field, const ColumnBytes::Sink& sink);

// Walks the columns of a message: `one` gets every field with a number it may know.
template <class OnField>
Result<void> walk(const Field& message, OnField one) {
  for (FieldCursor cursor(message); !cursor.at_end();) {
    PROFD_TRY(const Field field, cursor.next());
    PROFD_CHECK(one(field));
  }
  return {};
}

}  // namespace profd::profd_format
