import TestSupport

/// Pictures that ffmpeg draws.
enum Pictures {
    /// A picture of this size in the format of its name's ending, written into `folder`; nil: this ffmpeg can't.
    static func make(_ folder: TemporaryFolder, _ name: String, _ width: Int, _ height: Int) -> [UInt8]? {
        let path = folder.path(name)
        let words = ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc=size=\(width)x\(height)"]
        let process = TestProcess(words + ["-frames:v", "1", "-cpu-used", "8", path])
        guard process.wait() == 0 else { return nil }
        return folder.read(name)
    }
}
