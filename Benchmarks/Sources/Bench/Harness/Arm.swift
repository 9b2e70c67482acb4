/// A program's implementation of a workload.
struct Arm {
  enum Program: String {
    case floor = "C"
    /// Objects of a plain class with stored properties.
    case swift = "plain Swift"
    /// Objects of a plain class that may have to be loaded first.
    case loadable = "loadable Swift"
    case copy = "fetch and insert"
    case ours
    case unheard = "ours, no sink"
    case grdb = "GRDB"
    case sqlalchemy = "SQLAlchemy"
  }

  let program: Program
  /// Does the work once, and returns the time of the measured part in nanoseconds.
  let run: () throws -> UInt64
}
