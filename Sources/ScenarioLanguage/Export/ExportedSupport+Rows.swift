extension ExportedSupport {
  /// The functions that create the rows, and their values.
  static let rows = #"""
    // MARK: The rows

    /// Creates rows and keeps their object IDs, by entity.
    final class Rows {
      private let context: NSManagedObjectContext
      private var made: [String: [NSManagedObjectID]] = [:]

      init(in store: URL, of model: NSManagedObjectModel) throws {
        context = makeContext(on: try openStore(store, model))
      }

      func insert(
        _ count: Int, _ entity: String, _ fill: (NSManagedObject, Int) -> Void
      ) throws {
        for start in stride(from: 0, to: count, by: 1_000) {
          let ids = try context.performAndWait {
            let objects = (start..<min(count, start + 1_000)).map { row in
              let object = NSEntityDescription.insertNewObject(
                forEntityName: entity, into: context)
              fill(object, row)
              return object
            }
            try context.save()
            return objects.map(\.objectID)
          }
          made[entity, default: []] += ids
          context.performAndWait { context.reset() }
        }
      }

      /// Visits the rows of an entity again.
      func relate(_ entity: String, _ fill: (NSManagedObject, Int) -> Void) throws {
        try context.performAndWait {
          for (row, id) in (made[entity] ?? []).enumerated() {
            fill(context.object(with: id), row)
          }
          try context.save()
          context.reset()
        }
      }

      /// Sets a to-one relationship to the row with an index, which wraps around.
      func relate(
        _ object: NSManagedObject, _ key: String, to entities: [String], _ choice: UInt64
      ) {
        object.setValue(destinations(entities, choice, count: 1).first, forKey: key)
      }

      /// Sets a to-many relationship to a number of rows, beginning with the one with an index.
      func relate(
        _ object: NSManagedObject, _ key: String, to entities: [String], _ choice: UInt64,
        count: Int
      ) {
        let objects = destinations(entities, choice, count: count)
        let isOrdered = object.entity.relationshipsByName[key]?.isOrdered == true
        object.setValue(isOrdered ? NSOrderedSet(array: objects) : Set(objects), forKey: key)
      }

      private func destinations(
        _ entities: [String], _ choice: UInt64, count: Int
      ) -> [NSManagedObject] {
        let ids = entities.flatMap { made[$0] ?? [] }
        guard !ids.isEmpty else { return [] }
        return (0..<UInt64(count)).map {
          context.object(with: ids[Int((choice % UInt64(ids.count) + $0) % UInt64(ids.count))])
        }
      }
    }

    static func date(_ seconds: Double) -> Date {
      Date(timeIntervalSinceReferenceDate: 473_299_200 + seconds)
    }

    /// Returns consecutive integers in a range, repeated from the first.
    static func serial(_ row: Int, _ least: Int, _ greatest: Int) -> Int {
      guard least < greatest else { return least }
      let (span, isOver) = greatest.subtractingReportingOverflow(least)
      return isOver ? row : least + row % (span == .max ? span : span + 1)
    }

    /// A random number generator (SplitMix64) that returns the same numbers for the same seed, with
    /// a stream for each property.
    struct Seeded {
      private var state: UInt64

      init(_ seed: UInt64, _ stream: String) {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in stream.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        state = seed &* 0x9e37_79b9_7f4a_7c15 ^ hash
      }

      mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
      }

      mutating func below(_ bound: Int) -> Int {
        Int(next().multipliedFullWidth(by: UInt64(bound)).high)
      }

      mutating func whole(_ least: Int, _ greatest: Int, below bound: Int) -> Int {
        guard least < greatest else { return least }
        let (span, isOver) = greatest.subtractingReportingOverflow(least)
        return least + below(isOver || span == .max ? bound : span + 1)
      }

      mutating func fraction(_ least: Double, _ greatest: Double) -> Double {
        least + Double(next() >> 11) / Double(1 << 53) * max(0, greatest - least)
      }

      mutating func text(_ length: Int, _ row: Int?) -> String {
        let syllables = ["ba", "co", "di", "fu", "ga", "le", "mi", "no", "pu", "ra", "se", "to"]
        var text = ""
        while text.utf8.count < length { text += syllables[below(syllables.count)] }
        text = String(text.prefix(length))
        guard let row else { return text }
        let serial = String(row + 1)
        return String(text.prefix(max(0, length - serial.count))) + serial
      }

      mutating func bytes(_ length: Int) -> Data {
        var bytes: [UInt8] = []
        while bytes.count < length {
          let word = next()
          for shift in stride(from: UInt64(0), to: 64, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: word >> shift))
          }
        }
        return Data(bytes.prefix(length))
      }

      mutating func uuid() -> UUID {
        let words = [next(), next()]
        func byte(_ index: Int) -> UInt8 {
          UInt8(truncatingIfNeeded: words[index / 8] >> UInt64(8 * (7 - index % 8)))
        }
        return UUID(
          uuid: (
            byte(0), byte(1), byte(2), byte(3), byte(4), byte(5), byte(6) & 0x0f | 0x40, byte(7),
            byte(8) & 0x3f | 0x80, byte(9), byte(10), byte(11), byte(12), byte(13), byte(14),
            byte(15)
          ))
      }
    }
    """#
}
