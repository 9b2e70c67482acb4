import OpenCoreData

/// Reading properties of realized objects, compared with stored properties of a plain class;
/// strings also with those of a class whose objects may have to be loaded first.
///
/// The workloads read 1,024 objects repeatedly, in order. All loops have the same structure.
struct AccessWorkloads {
  let bed: Bed
  private let count = 1_024
  private let repeats = 400

  func managedInteger() throws -> Workload {
    try workload("@Managed, Int", 12, integers, try held(WrappedMood.self)) { objects, repeats in
      var sum: Int64 = 0
      for _ in 0..<repeats { for object in objects { sum &+= object.rank } }
      use(sum)
    }
  }

  func managedText() throws -> Workload {
    try workload("@Managed, String", 1.1, texts, try held(WrappedMood.self), loadableTexts) {
      objects, repeats in
      var sum = 0
      for _ in 0..<repeats { for object in objects { sum &+= object.name.utf8.count } }
      use(sum)
    }
  }

  /// Uses the generated properties of `Moods.xcdatamodel`, which is the model that `BenchModel`
  /// creates.
  func generatedInteger() throws -> Workload {
    try workload(
      "generated property, Int", 4.2, integers, try generated()
    ) { objects, repeats in
      var sum: Int64 = 0
      for _ in 0..<repeats { for object in objects { sum &+= object.rank } }
      use(sum)
    }
  }

  func generatedText() throws -> Workload {
    try workload(
      "generated property, String", 1.1, texts, try generated(), loadableTexts
    ) { objects, repeats in
      var sum = 0
      for _ in 0..<repeats { for object in objects { sum &+= object.name?.utf8.count ?? 0 } }
      use(sum)
    }
  }

  private func generated() throws -> HeldObjects<GeneratedMood> {
    MoodsModel.registerClasses()
    return try held(GeneratedMood.self)
  }

  func computedInteger() throws -> Workload {
    try workload(
      "computed property, Int", nil, integers, try held(Mood.self)
    ) { objects, repeats in
      var sum: Int64 = 0
      for _ in 0..<repeats { for object in objects { sum &+= object.rank } }
      use(sum)
    }
  }

  func computedText() throws -> Workload {
    try workload(
      "computed property, String", nil, texts, try held(Mood.self), loadableTexts
    ) { objects, repeats in
      var sum = 0
      for _ in 0..<repeats { for object in objects { sum &+= object.name.utf8.count } }
      use(sum)
    }
  }

  func byName() throws -> Workload {
    let note =
      "Compared with a stored property. `NSNumber(value:)` alone takes "
      + String(format: "%.0f ns.", numberTime())
    return try workload("value(forKey:)", 80, integers, try held(Mood.self), note: note) {
      objects, repeats in
      var found = 0
      for _ in 0..<repeats {
        for object in objects where object.value(forKey: "rank") != nil { found += 1 }
      }
      use(found)
    }
  }

  /// Measures the creation of the number that `value(forKey:)` returns, in nanoseconds.
  private func numberTime() -> Double {
    let ranks = (0..<count).map { MoodValues(number: $0).rank }
    let times = (0..<5).map { _ in
      timed {
        var found = 0
        for _ in 0..<repeats {
          for rank in ranks where (NSNumber(value: rank) as Any?) != nil { found += 1 }
        }
        use(found)
      }.time
    }
    return Double(times.min() ?? 0) / Double(count * repeats)
  }

  private var integers: (ContiguousArray<PlainMood>, Int) -> Void {
    { objects, repeats in
      var sum: Int64 = 0
      for _ in 0..<repeats { for object in objects { sum &+= object.rank } }
      use(sum)
    }
  }

  private var texts: (ContiguousArray<PlainMood>, Int) -> Void {
    { objects, repeats in
      var sum = 0
      for _ in 0..<repeats { for object in objects { sum &+= object.name.utf8.count } }
      use(sum)
    }
  }

  private var loadableTexts: (ContiguousArray<LoadableMood>, Int) -> Void {
    { objects, repeats in
      var sum = 0
      for _ in 0..<repeats { for object in objects { sum &+= object.name.utf8.count } }
      use(sum)
    }
  }

  private func workload<Object>(
    _ name: String, _ limit: Double?, _ plain: @escaping (ContiguousArray<PlainMood>, Int) -> Void,
    _ held: HeldObjects<Object>,
    _ loadable: ((ContiguousArray<LoadableMood>, Int) -> Void)? = nil, note: String? = nil,
    _ ours: @escaping (ContiguousArray<Object>, Int) -> Void
  ) throws -> Workload {
    let values = (0..<count).map { MoodValues(number: $0) }
    let repeats = repeats
    let plainMoods = ContiguousArray(values.map { PlainMood($0) })
    let plainArm = Arm(program: .swift) { timed { plain(plainMoods, repeats) }.time }
    let oursArm = Arm(program: .ours) { timed { ours(held.objects, repeats) }.time }
    var arms = [plainArm, oursArm]
    if let loadable {
      let moods = ContiguousArray(values.map { LoadableMood($0, isLoaded: true) })
      let loadableArm = Arm(program: .loadable) { timed { loadable(moods, repeats) }.time }
      arms = [loadableArm, oursArm, plainArm]
    }
    return Workload(
      name: name, unit: "read", operations: count * repeats, limit: limit, arms: arms,
      note: note
        ?? (loadable == nil
          ? "Compared with a stored property."
          : "Loadable Swift reads a stored string after a test whether the object must be loaded. "
            + "Plain Swift reads a stored string."))
  }

  private func held<Object: NSManagedObject>(_ type: Object.Type) throws -> HeldObjects<Object> {
    let model = BenchModel.make(moodClass: type)
    return try HeldObjects(Stack(url: bed.url, model: model).context(), count: count)
  }
}
