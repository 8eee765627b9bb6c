namespace profd::protocol {
extern const int kProtocolVersion;
const int kProtocolVersion = 1;
}  // namespace profd::protocol
