import OpenCoreData

/// Builds the measured stores with the framework's public API.
struct StoreBuilder {
  /// The number of moods per country.
  ///
  /// A batch of 500 countries has a tenth of 100,000 moods.
  static let moodsPerCountry = 20

  let folder: URL
  let model: NSManagedObjectModel

  /// Creates a builder whose stores are kept between runs.
  ///
  /// `measure` removes them first, so that they're created by this program's version of the
  /// framework.
  static func inTemporaryFolder() throws -> StoreBuilder {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cdprof-bench")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return StoreBuilder(folder: folder, model: BenchModel.make())
  }

  /// Removes all stores.
  func clear() throws {
    for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      try FileManager.default.removeItem(at: folder.appendingPathComponent(file))
    }
  }

  /// Returns a store with a number of moods, which is built if it doesn't exist.
  func store(rows: Int) throws -> URL {
    let url = folder.appendingPathComponent("moods-\(rows).sqlite")
    if FileManager.default.fileExists(atPath: url.path) { return url }
    let unfinished = try emptyStore("unfinished.sqlite")
    do {
      // The store is closed at the end of this scope, which checkpoints the WAL.
      let stack = try Stack(url: unfinished, model: model)
      for start in stride(from: 0, to: rows, by: 50_000) {
        try fill(start..<min(start + 50_000, rows), in: stack)
      }
    }
    try FileManager.default.moveItem(at: unfinished, to: url)
    return url
  }

  /// Creates an empty store in a file, which is replaced if it exists.
  func emptyStore(_ name: String) throws -> URL {
    let url = absentStore(name)
    _ = try Stack(url: url, model: model)
    return url
  }

  /// Removes a store if it exists, and returns its file.
  func absentStore(_ name: String) -> URL {
    let url = folder.appendingPathComponent(name)
    for ending in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: url.path + ending)
    }
    return url
  }

  /// Copies a store to a file, which is replaced if it exists, and writes it to the disk, so that a
  /// later commit needn't.
  func copy(of store: URL, _ name: String) throws -> URL {
    let url = absentStore(name)
    try FileManager.default.copyItem(at: store, to: url)
    let file = try FileHandle(forUpdating: url)
    try file.synchronize()
    try file.close()
    // Opening a file that has just been written waits until a later write would be detectable.
    usleep(25_000)
    return url
  }

  private func fill(_ numbers: Range<Int>, in stack: Stack) throws {
    let context = stack.context()
    try context.performAndWait {
      var country: Country?
      for number in numbers {
        if country == nil || number % StoreBuilder.moodsPerCountry == 0 {
          let made = Country(context: context)
          made.name = "Country \(number / StoreBuilder.moodsPerCountry)"
          country = made
        }
        let mood = Mood(context: context)
        mood.set(MoodValues(number: number))
        mood.country = country
      }
      try context.save()
    }
  }
}

extension Mood {
  /// Sets the nine attributes.
  func set(_ values: MoodValues) {
    rank = values.rank
    stamp = values.stamp
    votes = values.votes
    flags = values.flags
    kind = values.kind
    latitude = values.latitude
    longitude = values.longitude
    name = values.name
    note = values.note
  }
}
