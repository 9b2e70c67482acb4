import OpenCoreData

/// Builds the measured stores through the framework's public API.
struct StoreBuilder {
  /// Moods of one country; 500 countries make a batch of a tenth of 100,000 moods.
  static let moodsPerCountry = 20

  let folder: URL
  let model: NSManagedObjectModel

  /// A builder whose stores are kept from run to run.
  ///
  /// `measure` removes them first: they are as the framework of this program makes them.
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

  /// A store of that many moods, built when it is not there yet.
  func store(rows: Int) throws -> URL {
    let url = folder.appendingPathComponent("moods-\(rows).sqlite")
    if FileManager.default.fileExists(atPath: url.path) { return url }
    let unfinished = try emptyStore("unfinished.sqlite")
    do {
      // Closed at the end of this block, which brings the log into the file.
      let stack = try Stack(url: unfinished, model: model)
      for start in stride(from: 0, to: rows, by: 50_000) {
        try fill(start..<min(start + 50_000, rows), in: stack)
      }
    }
    try FileManager.default.moveItem(at: unfinished, to: url)
    return url
  }

  /// A store without rows in a file of that name, which is made again.
  func emptyStore(_ name: String) throws -> URL {
    let url = folder.appendingPathComponent(name)
    for ending in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: url.path + ending)
    }
    _ = try Stack(url: url, model: model)
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
