/// One thing to look for.
protocol DoctorRule: Sendable {
  /// What is wrong in this respect; empty for a sound store.
  ///
  /// - Throws: `SQLiteError` where the file cannot be read.
  func findings(in store: ExaminedStore) throws -> [DoctorFinding]
}
