import Foundation
import Moody
import Testing

@Suite("Colors of a picture")
struct PictureTests {
  private func pixmap(_ header: String, _ pixels: [UInt8]) -> Data {
    Data(header.utf8) + pixels
  }

  @Test("The most frequent colors are the mood's, without those that hardly differ")
  func mostFrequentColors() throws {
    let (red, nearRed, blue, gray): ([UInt8], [UInt8], [UInt8], [UInt8]) =
      ([250, 0, 0], [230, 10, 10], [0, 0, 255], [128, 128, 128])
    let pixels = [red, red, red, nearRed, nearRed, blue, blue, blue, blue, gray].flatMap(\.self)
    let colors = try PictureColors(portablePixmap: pixmap("P6\n# by hand\n5 2\n255\n", pixels))
    #expect(colors.dominant() == Data(blue + red + gray))
    #expect(colors.dominant(1) == Data(blue))
  }

  @Test("Components of two bytes, and others than 255 as the maximum, are scaled")
  func componentsAreScaled() throws {
    let wide = try PictureColors(
      portablePixmap: pixmap("P6 1 1 65535\n", [255, 255, 128, 0, 0, 0]))
    #expect(wide.dominant() == Data([255, 127, 0]))
    let narrow = try PictureColors(portablePixmap: pixmap("P6 1 1 15 ", [15, 5, 99]))
    #expect(narrow.dominant() == Data([255, 85, 255]))
  }

  @Test(
    "What isn't a complete pixmap is an error with its offset",
    arguments: [
      ("", 0, "isn't a portable pixmap"), ("P5 1 1 255 abc", 0, "isn't a portable pixmap"),
      ("P61 1 255 abc", 2, "white space is missing before the width"),
      ("P6 x 1 255 abc", 3, "the width isn't a number"),
      ("P6 0 1 255 abc", 3, "the width isn't from 1"),
      ("P6 1 99999999999999999999 255 abc", 5, "the height isn't from 1"),
      ("P6 1 1 65536 abc", 7, "the maximum value isn't from 1"),
      ("P6 1 1 255abcd", 10, "white space is missing before the pixels"),
      ("P6 1 1 255 ab", 13, "ends after 2 of 3 bytes"),
      ("P6 1 1 255", 10, "ends after"),
      ("P6 1000000 1000000 255 ", 0, "more than 100000000 pixels"),
    ])
  func incompletePixmaps(text: String, offset: Int, message: String) throws {
    let error = try #require(throws: PictureError.self) {
      try PictureColors(portablePixmap: Data(text.utf8))
    }
    #expect(error.offset == offset && error.message.contains(message), "\(error)")
  }
}
