import ManagedModel

// UIKit and AppKit add these to Foundation's index path.

extension IndexPath {
  /// The path of an item of a section.
  public init(item: Int, section: Int) {
    self.init(indexes: [section, item])
  }

  /// The path of a row of a section.
  public init(row: Int, section: Int) {
    self.init(indexes: [section, row])
  }

  /// The section; the first of the two indexes.
  public var section: Int { self[0] }

  /// The item in the section; the second of the two indexes.
  public var item: Int { self[1] }

  /// The row in the section; the second of the two indexes.
  public var row: Int { self[1] }
}
