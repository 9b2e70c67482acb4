/// One row of the table: the same work in several programs.
struct Workload {
  /// What `--only` is compared with.
  let name: String
  /// What one operation is, for the column of nanoseconds.
  let unit: String
  let operations: Int
  /// The highest ratio of ours to the floor that is wished for; nil for a row that is only told.
  let limit: Double?
  /// First the floor, then ours, then peers.
  var arms: [Arm]
  /// What the reader must know to judge the row.
  var note = ""
}
