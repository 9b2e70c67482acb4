extension ModelArchiveWriter {
  /// The reference to an array.
  mutating func array(_ members: [Value]) -> Value {
    let kind = classReference("NSArray")
    return add(["NS.objects": .array(members), "$class": kind])
  }

  /// The reference to an array of the class that Apple's framework uses for lists that grow.
  mutating func mutableArray(_ members: [Value]) -> Value {
    let kind = classReference("NSMutableArray", "NSArray")
    return add(["NS.objects": .array(members), "$class": kind])
  }

  /// The reference to a set.
  mutating func set(_ members: [Value]) -> Value {
    let kind = classReference("NSSet")
    return add(["NS.objects": .array(members), "$class": kind])
  }

  /// The reference to a dictionary that does not change.
  mutating func dictionary(_ entries: [(key: Value, value: Value)]) -> Value {
    let kind = classReference("NSDictionary")
    return add([
      "NS.keys": .array(entries.map(\.key)), "NS.objects": .array(entries.map(\.value)),
      "$class": kind,
    ])
  }

  /// The reference to a dictionary of the class that Apple's framework uses for what grows.
  mutating func mutableDictionary(_ entries: [(key: Value, value: Value)]) -> Value {
    let kind = classReference("NSMutableDictionary", "NSDictionary")
    return add([
      "NS.keys": .array(entries.map(\.key)), "NS.objects": .array(entries.map(\.value)),
      "$class": kind,
    ])
  }

  /// The reference to a dictionary with fixed keys, as a model keeps its entities.
  mutating func knownKeysDictionary(_ entries: [(key: Value, value: Value)]) -> Value {
    let mapping = add([
      "keys": array(entries.map(\.key)),
      "length": .integer(Int64(entries.count)),
      "version": .integer(1),
      "$class": classReference("NSKnownKeysMappingStrategy1", "NSKnownKeysMappingStrategy"),
    ])
    return add([
      "values": array(entries.map(\.value)),
      "searchMapping": mapping,
      "emptyToken": string("__empty_slot_token_4c24_98dc_ac1e_b773__"),
      "version": .integer(1),
      "$class": classReference(
        "NSKnownKeysDictionary1", "NSKnownKeysDictionary", "NSMutableDictionary", "NSDictionary"),
    ])
  }

  /// The reference to an array of arrays of texts.
  mutating func groups(_ groups: [[String]]) -> Value {
    let members = groups.map { group in
      mutableArray(group.map { string($0) })
    }
    return mutableArray(members)
  }
}
