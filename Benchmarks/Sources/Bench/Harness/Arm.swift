/// One program's way of doing a workload.
struct Arm {
  enum Program: String {
    case floor = "C"
    case swift = "plain Swift"
    case ours
    case unheard = "ours, no sink"
    case grdb = "GRDB"
    case sqlalchemy = "SQLAlchemy"
  }

  let program: Program
  /// Does the work once and gives the nanoseconds of the measured part.
  let run: () throws -> UInt64
}
