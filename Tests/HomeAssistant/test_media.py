"""Media: the queue, the library in the media browser, pictures, search."""

from __future__ import annotations

from http import HTTPStatus
import pathlib
from typing import Any

from conftest import act, eventually, shown, shows
from custom_components.nowplayingd.compat import SearchMediaQuery
from custom_components.nowplayingd.media_id import KINDS, MediaId
from homeassistant.components.media_player import BrowseError
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.setup import async_setup_component
from house import House, png, sound
import pytest

PLAYER = "media_player.kitchen"


def player(hass: HomeAssistant) -> Any:
    """Return the entity of the player."""
    return hass.data["media_player"].get_entity(PLAYER)


def names(house: House) -> list[str]:
    """Return album and number of each item in the queue."""
    return ["/".join(one["uri"].split("/")[-2:]) for one in house.call("queue.list", fields=["uri"])["items"]]


async def play(hass: HomeAssistant, media_id: str, **data: Any) -> None:
    await act(hass, "play_media", media_content_id=media_id, media_content_type="music", **data)


async def test_enqueue(hass: HomeAssistant, house: House, entry) -> None:
    """Each way to enqueue, with a file, an album and a list."""
    await shows(hass, state="idle", queue_size=5)
    album = str(MediaId("album", ("Second", "Béla")))
    house.call("lists.save", name="Evening-1", uris=house.songs[:2])
    await play(hass, f"file://{house.songs[4]}", enqueue="replace")
    await shows(hass, state="playing", media_title="Second 2", queue_size=1)
    await play(hass, house.songs[0], enqueue="add")
    await shows(hass, media_title="Second 2", queue_size=2)
    await play(hass, album, enqueue="next")
    await shows(hass, media_title="Second 2", queue_size=4)
    assert names(house) == ["Second/2.flac", "Second/1.flac", "Second/2.flac", "First/1.flac"]
    await play(hass, str(MediaId("list", ("Evening-1",))), enqueue="play")
    await shows(hass, media_title="First 1", queue_size=6, queue_index=1)
    await play(hass, str(MediaId("artist", ("Ann",))))
    await shows(hass, media_title="First 1", queue_size=3, state="playing")
    await play(hass, str(MediaId("genre", ("Folk",))))
    await shows(hass, queue_size=5)
    await play(hass, str(MediaId("folder", ("music/Second",))))
    await shows(hass, media_title="Second 1", queue_size=2)
    await play(hass, str(MediaId("track", (f"file://{house.songs[1]}",))))
    await shows(hass, media_title="First 2", queue_size=1)
    await play(hass, house.songs[2], extra={"metadata": {"title": "A name\n", "albumName": 3}, "artist": "Somebody"})
    await shows(hass, media_title="A name", media_artist="Somebody", media_album_name="First")


async def test_nothing_is_lost(hass: HomeAssistant, house: House, entry) -> None:
    """Media that cannot be played leave the queue as it is."""
    await shows(hass, queue_size=5)
    for media_id in (
        "nowplaying://artists",
        "nowplaying://album/one",
        "nowplaying://",
        "nowplaying://../../x",
        str(MediaId("list", ("nobody",))),
        str(MediaId("album", ("Third", ""))),
        "/nowhere.flac",
    ):
        with pytest.raises(ServiceValidationError):
            await play(hass, media_id)
    assert house.state()["queue"]["count"] == 5


async def test_list_service(hass: HomeAssistant, house: House, entry) -> None:
    """A saved list by the service, with and without shuffle."""
    house.call("lists.save", name="Sunday", uris=house.songs[3:])
    found = await act(hass, "play_list", domain="nowplayingd", name="Sunday", shuffle=True, response=True)
    assert found == {PLAYER: {"count": 2, "missing": 0}}
    await shows(hass, shuffle=True, queue_size=2, state="playing")
    found = await act(hass, "play_list", domain="nowplayingd", name="Sunday", enqueue="add", shuffle=False, response=True)
    assert found == {PLAYER: {"count": 2, "missing": 0}}
    await shows(hass, shuffle=False, queue_size=4)
    with pytest.raises(ServiceValidationError):
        await act(hass, "play_list", domain="nowplayingd", name="Monday")


async def test_publish(hass: HomeAssistant, house: House, entry) -> None:
    """Other words for the item; without an item or without words there is an error."""
    house.call("play")
    await shows(hass, media_title="First 1", state="playing")
    found = await act(hass, "publish", domain="nowplayingd", title="The late show", album="Radio", response=True)
    assert found[PLAYER]["version"] >= 1
    await shows(hass, media_title="The late show", media_album_name="Radio", media_artist="Ann")
    with pytest.raises(ServiceValidationError, match="nothing to publish"):
        await act(hass, "publish", domain="nowplayingd")
    house.call("queue.clear")
    await shows(hass, queue_size=0)
    with pytest.raises(ServiceValidationError, match="no current item"):
        await act(hass, "publish", domain="nowplayingd", title="x")


async def test_browse(hass: HomeAssistant, house: House, entry, tmp_path: pathlib.Path) -> None:
    """From the root to the tracks, by each shelf."""
    house.call("lists.save", name="Sunday", uris=house.songs[3:])
    browse = player(hass).async_browse_media
    root = await browse()
    assert [one.title for one in root.children] == ["Artists", "Albums", "Genres", "Lists", "Stations", "Folders"]
    assert not root.can_play and root.title == "Kitchen"

    async def children(parent: Any, number: int) -> Any:
        one = parent.children[number]
        return await browse(one.media_content_type, one.media_content_id)

    artists = await children(root, 0)
    assert [one.title for one in artists.children] == ["Ann", "Béla"]
    albums = await children(artists, 1)
    assert [one.title for one in albums.children] == ["Second"]
    tracks = await children(albums, 0)
    assert [(one.title, one.can_play, one.can_expand) for one in tracks.children] == [
        ("Second 1", True, False),
        ("Second 2", True, False),
    ]
    assert tracks.children[0].media_content_id == f"file://{house.songs[3]}"
    assert [one.title for one in (await children(root, 1)).children] == ["First", "Second"]
    genres = await children(root, 2)
    assert [one.title for one in (await children(genres, 0)).children] == ["First", "Second"]
    lists = await children(root, 3)
    assert "Sunday" in [one.title for one in lists.children]
    sunday = next(one for one in lists.children if one.title == "Sunday")
    assert len((await browse("playlist", sunday.media_content_id)).children) == 2
    folders = await children(root, 5)
    music = await children(folders, 0)
    assert [one.title for one in music.children] == ["First", "Second"]
    first = await children(music, 0)
    assert [one.title for one in first.children] == ["First 1", "First 2", "First 3"]
    for media_id in ("nowplaying://track/x", "nowplaying://what", "file:///x", "nowplaying://folder/nowhere"):
        with pytest.raises(BrowseError) as error:
            await browse("x", media_id)
        assert error.value.translation_key in ("not_openable", "refused")
    for parent in (root, artists, albums, tracks, lists, folders):
        assert parent.as_dict()


async def test_stations(hass: HomeAssistant, house: House, entry) -> None:
    """The addresses in all lists are stations, with the names that the lists have; a file without tags has its own name."""
    house.call("lists.save", name="Radio", uris=["http://ada:secret@radio.example.org:8000/one%20two", house.songs[0]])
    named, file = "https://radio.example.org/", house.folder / "music/Radio.m3u8"
    file.write_text(f"#EXTM3U\n#EXTINF:-1,The Late\tShow\n{named}\n#EXTINF:-1,Again\n{named}\n../bell.wav\n")
    await eventually(lambda: "music/Radio.m3u8" in [one["name"] for one in house.call("lists.list")["lists"]], "the playlist")
    browse = player(hass).async_browse_media
    found = (await browse("stations", str(MediaId("stations")))).children
    titles = {one.title: one for one in found}
    assert titles.keys() == {"radio.example.org/one two", "The Late Show"}
    station = titles["The Late Show"]
    assert (station.media_content_id, station.can_play, station.can_expand, station.thumbnail) == (named, True, False, None)
    with pytest.raises(BrowseError):
        await browse("music", str(MediaId("station", (named,))))
    rows = (await browse("playlist", str(MediaId("list", ("music/Radio.m3u8",))))).children
    assert [one.title for one in rows] == ["The Late Show", "Again", "bell.wav"]
    await play(hass, station.media_content_id, enqueue="add")
    await eventually(lambda: house.call("queue.list", fields=["uri"])["items"][-1]["uri"] == named, "the station")
    await play(hass, str(MediaId("station", (named,))), enqueue="add")
    await shows(hass, queue_size=7)
    file.unlink()
    house.call("lists.delete", name="Radio")


async def test_media_sources(hass: HomeAssistant, house: House, entry, tmp_path: pathlib.Path) -> None:
    """The media sources of Home Assistant stand beside the library, unless the options say no."""
    sound(tmp_path / "bell.wav", 0.2)
    hass.config.media_dirs = {"local": str(tmp_path)}
    await async_setup_component(hass, "media_source", {})
    browse = player(hass).async_browse_media
    root = await browse()
    source = root.children[6]
    found = await browse(source.media_content_type, source.media_content_id)
    assert "bell.wav" in [one.title for one in found.children]
    hass.config_entries.async_update_entry(entry, options={"media_sources": False})
    assert len((await browse()).children) == 6
    # The box gets an address, which Home Assistant does not have in this test.
    with pytest.raises(HomeAssistantError):
        await play(hass, "media-source://media_source/local/bell.wav")
    with pytest.raises(HomeAssistantError):
        await play(hass, "media-source://media_source/local/nothing.wav")
    assert names(house) == [f"First/{one}.flac" for one in (1, 2, 3)] + [f"Second/{one}.flac" for one in (1, 2)]


async def test_search(hass: HomeAssistant, house: House, entry) -> None:
    """One question finds artists, albums, tracks and folders; a class narrows it."""
    house.call("lists.save", name="Second list", uris=house.songs[3:])
    search = player(hass).async_search_media
    found = await search(SearchMediaQuery(search_query="second"))
    kinds = {one.media_class for one in found.result}
    assert {"album", "track"} <= kinds
    for one in found.result:
        assert one.as_dict(parent=False)["title"]
    only = await search(SearchMediaQuery(search_query="bela", media_filter_classes=["artist"]))
    assert [one.title for one in only.result] == ["Béla"]
    await play(hass, only.result[0].media_content_id)
    await shows(hass, media_title="Second 1", queue_size=2)
    for one in (await search(SearchMediaQuery(search_query="first", media_filter_classes=["directory", "genre"]))).result:
        assert (await player(hass).async_browse_media(one.media_content_type, one.media_content_id)).children


async def test_pictures(hass: HomeAssistant, house: House, entry, hass_client_no_auth: Any) -> None:
    """The cover of the item, and those of the media browser, as the frontend fetches them."""
    house.call("play")
    state = await eventually(
        lambda: (found := shown(hass)).attributes.get("entity_picture") and found, "a picture"
    )
    client = await hass_client_no_auth()
    answer = await client.get(state.attributes["entity_picture"])
    assert (answer.status, answer.content_type) == (HTTPStatus.OK, "image/png")
    assert await answer.read() == png(100)
    # From the memory of the entity.
    assert (await client.get(state.attributes["entity_picture"])).status == HTTPStatus.OK
    house.call("play", index=3)
    await shows(hass, media_title="Second 1")
    other = await eventually(
        lambda: (found := shown(hass).attributes.get("entity_picture")) != state.attributes["entity_picture"] and found,
        "another picture",
    )
    assert await (await client.get(other)).read() == png(101)
    browse = player(hass).async_browse_media
    for kind, number, content in (("artists", 0, png(100)), ("albums", 1, png(101))):
        thing = (await browse(kind, str(MediaId(kind)))).children[number]
        answer = await client.get(thing.thumbnail)
        assert (answer.status, await answer.read()) == (HTTPStatus.OK, content)
    album = (await browse("albums", str(MediaId("albums")))).children[0]
    track = (await browse("album", album.media_content_id)).children[0]
    assert await (await client.get(track.thumbnail)).read() == png(100)
    house.call("lists.save", name="Sunday", uris=["http://radio.example.org/", *house.songs[3:]])
    house.call("lists.save", name="Radio", uris=["http://radio.example.org/"])
    folders = [(await browse("folder", str(MediaId("folder", ("music",))))).children[1]]
    lists = [one for one in (await browse("lists", str(MediaId("lists")))).children if one.title == "Sunday"]
    genre = (await browse("genres", str(MediaId("genres")))).children[0]
    assert (await client.get(genre.thumbnail)).status == HTTPStatus.OK
    for thing in (*folders, *lists):
        assert await (await client.get(thing.thumbnail)).read() == png(101)
    nothing = ("album", "Third", ""), ("track", "file:///x"), ("list", "Radio"), ("list", "nobody"), ("folder", "x"), ("station", "x")
    for thing in (MediaId(kind, tuple(parts)) for kind, *parts in nothing):
        assert await player(hass).async_get_browse_image("x", str(thing)) == (None, None)
    assert await player(hass).async_get_browse_image("x", "../../secret") == (None, None)
    house.call("queue.clear")
    await shows(hass, queue_size=0)
    assert await player(hass).async_get_media_image() == (None, None)


@pytest.mark.parametrize("name", ["a/b", "ä ö", "100%", "?#&", "..", "\u202e", "'\"<>", ""])
def test_media_ids(name: str) -> None:
    """A name survives the way through the browser."""
    for kind, count in KINDS.items():
        thing = MediaId(kind, (name,) * count)
        assert MediaId.read(str(thing)) == thing
        assert str(thing).isascii()
    assert MediaId.read("nowplaying://artist/" + "x" * 9000) is None
