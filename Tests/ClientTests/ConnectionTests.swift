import Glibc
import NowPlayingClient
import TestSupport
import Testing

@Suite struct SocketLocationTests {
    private func candidates(_ option: String?, _ environment: [String: String]) -> [String] {
        SocketLocation.candidates(option: option, environment: { environment[$0] }, user: 1000)
    }

    @Test func theGivenOneIsTheOnlyOne() {
        #expect(candidates("x.sock", ["NOWPLAYING_SOCKET": "/y"]) == ["x.sock"])
        #expect(candidates(nil, ["NOWPLAYING_SOCKET": "/y", "XDG_RUNTIME_DIR": "/r"]) == ["/y"])
    }

    @Test func otherwiseTheUsersBeforeTheSystems() {
        let usual = ["/run/user/1000/nowplayingd/control.sock", "/run/nowplayingd/control.sock"]
        #expect(candidates(nil, [:]) == usual)
        #expect(candidates(nil, ["XDG_RUNTIME_DIR": "/run/user/1000", "NOWPLAYING_SOCKET": ""]) == usual)
        #expect(candidates(nil, ["XDG_RUNTIME_DIR": "relative"]) == usual)
        #expect(candidates(nil, ["XDG_RUNTIME_DIR": "/r"]) == ["/r/nowplayingd/control.sock"] + usual)
    }

    @Test func everyFailureHasWords() {
        for code in [ENOENT, ENOTDIR, ECONNREFUSED, EACCES, EPERM, EAGAIN, ENAMETOOLONG, EPROTOTYPE, EIO] {
            let text = ConnectionAttempt(path: "/nowhere/control.sock", code: code).explanation
            #expect(text.count > 10, "\(code)")
        }
    }
}

@Suite struct DaemonIdentityTests {
    @Test func modesOnTheWayDecide() throws {
        let folder = TemporaryFolder()
        let file = folder.path + "/inner/a.flac"
        mkdir(folder.path + "/inner", 0o755)
        close(open(file, O_CREAT | O_WRONLY, 0o644))
        chmod(folder.path, 0o755)
        let path = Array(file.utf8)
        let stranger = DaemonIdentity(user: 54321, groups: [54321])
        let member = DaemonIdentity(user: 54321, groups: [getegid()])
        #expect(stranger.mayRead(path))
        chmod(file, 0o640)
        #expect(!stranger.mayRead(path))
        #expect(member.mayRead(path))
        chmod(file, 0o644)
        chmod(folder.path + "/inner", 0o700)
        #expect(!stranger.mayRead(path))
        #expect(!member.mayRead(path))
        #expect(DaemonIdentity(user: 0, groups: []).mayRead(path))
        chmod(folder.path + "/inner", 0o755)
    }
}
