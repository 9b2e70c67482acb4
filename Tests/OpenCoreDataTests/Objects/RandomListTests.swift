import OpenCoreData
import Testing

/// Two ordered lists of songs, and two arrays with the same random changes.
private final class ListWalk {
  private let stack: GraphStack
  private let context: NSManagedObjectContext
  private var random: SeededRandom
  private var lists: [NSManagedObject] = []
  private var songs: [String: NSManagedObject] = [:]
  private var current: [[String]] = [[], []]
  private var saved: [[String]] = [[], []]
  private var savedSongs: Set<String> = []
  private var lastName = 0
  private var log: [String] = []
  private let seed: UInt64

  init(_ kind: StoreKind, seed: UInt64) throws {
    self.seed = seed
    random = SeededRandom(seed: seed)
    let model = try KinshipModel.make()
    model.entitiesByName["List"]?.relationshipsByName["songs"]?.deleteRule = .nullifyDeleteRule
    stack = try GraphStack(kind, model: model)
    context = try stack.context()
    try context.performAndWait {
      lists = ["0", "1"].map { context.make("List", ["name": $0]) }
      try context.save()
    }
  }

  func walk(steps: Int) throws {
    try context.performAndWait {
      for _ in 0..<steps {
        try step()
        check(lists, current)
      }
      try context.save()
      saved = current
    }
    let cold = try stack.context()
    try cold.performAndWait {
      check(try cold.all("List"), current)
      let request = NSFetchRequest<NSManagedObject>(entityName: "Song")
      request.predicate = NSPredicate(format: "list.name == '0'")
      request.sortDescriptors = [NSSortDescriptor(key: "list", ascending: true)]
      let names = try cold.fetch(request).compactMap { $0.value(forKey: "name") as? String }
      #expect(names == current[0], comment)
    }
  }

  private var comment: Comment {
    "seed \(seed), after: \(log.suffix(8).joined(separator: " | "))"
  }

  private func int(_ bound: Int) -> Int { Int.random(in: 0..<max(bound, 1), using: &random) }

  private func check(_ lists: [NSManagedObject], _ expected: [[String]]) {
    for (list, names) in zip(lists, expected) {
      let found = (list.value(forKey: "songs") as? NSOrderedSet)?.array ?? []
      #expect(
        found.map { ($0 as? NSManagedObject)?.value(forKey: "name") as? String } == names, comment)
      for case let song as NSManagedObject in found { #expect(song.one("list") === list, comment) }
    }
  }

  private func song() -> (name: String, object: NSManagedObject)? {
    songs.keys.sorted().randomElement(using: &random).flatMap { name in
      songs[name].map { (name, $0) }
    }
  }

  private func step() throws {
    let which = int(2)
    let proxy = lists[which].mutableOrderedSetValue(forKey: "songs")
    let count = current[which].count
    switch int(11) {
    case 0...1: insert(at: int(count + 1), which, proxy)
    case 2: move(to: which, by: proxy)
    case 3 where count > 0:
      let index = int(count)
      log.append("\(which) remove \(index)")
      proxy.removeObject(at: index)
      current[which].remove(at: index)
    case 4 where count > 1:
      let (from, to) = (int(count), int(count - 1))
      log.append("\(which) move \(from) to \(to)")
      proxy.moveObjects(at: [from], to: to)
      current[which].insert(current[which].remove(at: from), at: to)
    case 5 where count > 1:
      let (one, two) = (int(count), int(count))
      log.append("\(which) exchange \(one), \(two)")
      proxy.exchangeObject(at: one, withObjectAt: two)
      current[which].swapAt(one, two)
    case 6: replaceAll(which)
    case 7: delete()
    case 8...9:
      log.append("save")
      try context.save()
      (saved, savedSongs) = (current, Set(songs.keys))
      if int(2) == 0 { context.refreshAllObjects() }
    case 10 where int(2) == 0:
      log.append("rollback")
      context.rollback()
      current = saved
      songs = songs.filter { savedSongs.contains($0.key) }
      try restoreDeleted()
    default:
      log.append("refresh")
      context.refreshAllObjects()
    }
  }

  private func insert(at index: Int, _ which: Int, _ proxy: NSMutableOrderedSet) {
    lastName += 1
    let name = "s\(lastName)"
    log.append("\(which) insert \(name) at \(index)")
    let song = context.make("Song", ["name": name])
    songs[name] = song
    proxy.insert(song, at: index)
    current[which].insert(name, at: index)
  }

  /// Moves a song to the end of a list, from either side of the relationship.
  private func move(to which: Int, by proxy: NSMutableOrderedSet) {
    guard let (name, song) = song() else { return }
    log.append("\(which) take \(name)")
    if int(2) == 0 { song.setValue(lists[which], forKey: "list") } else { proxy.add(song) }
    guard !current[which].contains(name) else { return }
    current[1 - which].removeAll { $0 == name }
    current[which].append(name)
  }

  private func replaceAll(_ which: Int) {
    let names = songs.keys.sorted().shuffled(using: &random).prefix(int(6))
    log.append("\(which) = \(names.joined(separator: ","))")
    lists[which].setValue(names.compactMap { songs[$0] }, forKey: "songs")
    current[which] = Array(names)
    current[1 - which].removeAll { names.contains($0) }
  }

  private func delete() {
    guard let (name, song) = song() else { return }
    log.append("delete \(name)")
    context.delete(song)
    context.processPendingChanges()
    songs[name] = nil
    for which in 0...1 { current[which].removeAll { $0 == name } }
  }

  /// Adds the songs whose deletion was rolled back.
  private func restoreDeleted() throws {
    for song in try context.all("Song") {
      if let name = song.value(forKey: "name") as? String { songs[name] = song }
    }
  }
}

@Suite("Random changes of ordered lists agree with plain arrays")
struct RandomListTests {
  @Test(arguments: StoreKind.ofRows, RandomOperationTests.seeds)
  func randomChangesMatchThoseOfArrays(kind: StoreKind, seed: UInt64) throws {
    try ListWalk(kind, seed: seed).walk(steps: 120)
  }
}
