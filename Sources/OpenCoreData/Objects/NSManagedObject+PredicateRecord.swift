import ManagedModel

extension NSManagedObject: PredicateRecord {
  /// The number of the object's layout.
  package final var placesNumber: UInt32 { layout.number }

  /// Returns the position of a property; the objects themselves are read by name.
  ///
  /// Returns `nil` for a composite attribute, and for a property with an accessor of the class's
  /// own, which are read by name too.
  package final func position(ofKey key: String) -> UInt32? {
    if layout.accessors?[key] != nil { return nil }
    return switch layout.position(of: key) {
    case .composite, nil: nil
    case .some(let position): UInt32(layout.valueIndex(position))
    }
  }

  /// Returns the value at a position, without boxing numbers and dates.
  ///
  /// **Cost:** as `value(forKey:)`.
  package final func predicateValue(at position: UInt32) -> PredicateValue {
    willAccess()
    let index = Int(position)
    guard index < layout.slots.count else { return unslottedValue(at: index) }
    let slot = layout.slots[index]
    if slot.kind.isToOne {
      return destination(slot).map { .object(PredicateObject(reference: $0)) } ?? .null
    }
    if let text = keptText(at: SlotPosition(index: index, offset: slot.offset)) {
      return text.pointee.map { .string($0) } ?? .null
    }
    if let values, values.isChanged(index) || !slot.kind.isNumber {
      switch values[index] {
      case .null: return .null
      case .string(let text): return .string(text)
      case .raw(let value): return PredicateValue(value, kind: slot.kind)
      case .value(let value): return PredicateValue(value)
      case .transformed: return PredicateValue(attribute(slot))
      case .none, .object, .toMany: break
      }
    }
    return row.predicateValue(slot) ?? PredicateValue(attribute(slot))
  }

  private func unslottedValue(at index: Int) -> PredicateValue {
    if index < layout.firstTransient {
      let relationship = layout.toMany[index - layout.slots.count]
      let objects = destinations(relationship, at: index)
      return .collection(
        PredicateCollection(
          objects.map { .object(PredicateObject(reference: $0)) },
          isOrdered: relationship.isOrdered, isSet: true))
    }
    return PredicateValue(transient(index - layout.firstTransient))
  }
}

extension Row {
  /// Returns the value of a slot that is a number, a Boolean, or a date; `nil` if it's costly to
  /// decode and cached by its object.
  func predicateValue(_ slot: RowSlot) -> PredicateValue? {
    if isNull(slot) { return .null }
    switch slot.kind {
    case .int16, .int32, .int64: return .integer(int64(slot))
    case .bool: return .bool(int64(slot) != 0)
    case .double: return .double(double(slot))
    case .float: return .double(Double(Float(double(slot))))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: double(slot)))
    case .string, .uri, .decimal, .data, .uuid, .transformable, .external, .toOne,
      .toOnePolymorphic:
      return nil
    }
  }
}

extension PredicateValue {
  /// Creates a value from a raw value of a kind.
  init(_ value: RowValue, kind: RowSlot.Kind) {
    switch (value, kind) {
    case (.null, _): self = .null
    case (.int64(let number), .bool): self = .bool(number != 0)
    case (.int64(let number), _): self = .integer(number)
    case (.double(let seconds), .date): self = .date(Date(timeIntervalSinceReferenceDate: seconds))
    case (.double(let number), .float): self = .double(Double(Float(number)))
    case (.double(let number), _): self = .double(number)
    case (.text(let text), .string): self = .string(text)
    default: self = PredicateValue(value.value(kind))
    }
  }
}

extension NSPredicate {
  /// Returns whether the object satisfies the predicate.
  ///
  /// The same as `evaluate(with:)` for any value, without the type check. **Cost:** the faults of
  /// the properties it reads.
  public func evaluate(with object: NSManagedObject) -> Bool {
    if case .subclass = kind { return evaluate(with: object as Any?) }
    do {
      return try evaluation(ofRecord: object)
    } catch {
      fatalError(error.description)
    }
  }
}
