/* Linked with a program that has XRay's runtime: tells the agent where its functions are. */
#include "xray.h"

int __xray_set_handler(void (*handler)(int32_t, int));
int __xray_remove_handler(void);
int __xray_patch(void);
int __xray_unpatch(void);
int __xray_patch_function(int32_t);
int __xray_unpatch_function(int32_t);
uintptr_t __xray_function_address(int32_t);
size_t __xray_max_function_id(void);

/* Before constructors of the program, which may have probes. */
__attribute__((constructor(101))) static void begin(void) {
  static const struct profd_live_xray kRuntime = {.bytes = sizeof kRuntime,
                                                  .set_handler = __xray_set_handler,
                                                  .remove_handler = __xray_remove_handler,
                                                  .patch = __xray_patch,
                                                  .unpatch = __xray_unpatch,
                                                  .patch_function = __xray_patch_function,
                                                  .unpatch_function = __xray_unpatch_function,
                                                  .function_address = __xray_function_address,
                                                  .max_function_id = __xray_max_function_id};
  profd_live_use_xray(&kRuntime);
}
