#include "server/feature/set_masks.h"

#include <utility>

namespace profd {

Result<std::shared_ptr<const FrameMasks>> masks_of(Views& views, const OpenProfile& open,
                                                   const FrameSets& sets, SetMask wanted,
                                                   const StopToken& stop) {
  return views.kept<FrameMasks>(open, ViewSpec{}, "masks of sets " + sets.id(wanted), stop,
                                [&](const StopToken& token) -> Result<std::shared_ptr<const FrameMasks>> {
                                  PROFD_TRY(std::vector<SetMask> masks,
                                            sets.masks(*open.profile, token, wanted));
                                  return std::make_shared<const FrameMasks>(FrameMasks{std::move(masks)});
                                });
}

Result<std::shared_ptr<const StackClasses>> classes_of(Views& views, const OpenProfile& open,
                                                       const ViewSpec& spec, const FrameSets& sets,
                                                       SetMask wanted, const StopToken& stop) {
  PROFD_TRY(const auto masks, masks_of(views, open, sets, wanted, stop));
  return views.kept<StackClasses>(
      open, spec, "classes of sets " + sets.id(wanted), stop,
      [&](const StopToken& token) -> Result<std::shared_ptr<const StackClasses>> {
        PROFD_TRY(const SelectionPtr selection, views.selection(open, spec, token));
        PROFD_TRY(std::vector<StackClass> classes,
                  stack_classes(*selection, masks->of_frame, sets.rules(), {}, token));
        return std::make_shared<const StackClasses>(StackClasses{std::move(classes)});
      });
}

}  // namespace profd
