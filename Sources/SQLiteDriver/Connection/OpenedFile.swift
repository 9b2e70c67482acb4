/// A handle that was opened, and what it looks at.
struct OpenedFile {
  var handle: OpaquePointer
  /// The files as they were before the first read; nil unless looking.
  var inspection: StoreFileInspection?
  /// The copy that is read in place of the file.
  var copy: PrivateCopy?
}
