/// Reads files that should be small.
enum BoundedFile {
  /// Reads a whole file, or fails when it cannot be read or is larger than the limit.
  static func read(_ url: URL, limit: Int) throws(ModelErrors) -> Data {
    let data: Data
    do {
      let file = try FileHandle(forReadingFrom: url)
      defer { try? file.close() }
      data = try file.read(upToCount: limit + 1) ?? Data()
    } catch {
      throw ModelErrors(
        ModelError(
          "The file cannot be read.", nextStep: "Check the name and the access rights.",
          file: url.path))
    }
    guard data.count <= limit else {
      throw ModelErrors(
        ModelError(
          "The file is larger than \(limit >> 20) MiB, too large for a model.",
          nextStep: "Name the file of a model.", file: url.path))
    }
    return data
  }
}
