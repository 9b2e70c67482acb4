/// One program's way of doing a workload.
struct Arm {
  enum Program: String {
    case floor = "C"
    case ours
    case grdb = "GRDB"
    case swift = "plain Swift"
  }

  let program: Program
  /// Does the work once and gives the nanoseconds of the measured part.
  let run: () throws -> UInt64
}
