/// A row of the table: the same work in several programs.
struct Workload {
  /// The name, which `--only` filters by.
  let name: String
  /// The unit of one operation, for the column of nanoseconds.
  let unit: String
  let operations: Int
  /// The maximum ratio of OpenCoreData to the floor, or `nil` for an informational row.
  let limit: Double?
  /// The arms: the floor, OpenCoreData, and then peers and, if it isn't the floor, plain Swift.
  var arms: [Arm]
  /// A note for interpreting the row.
  var note = ""
}
