"""What is stored can be found and heard in the admin."""

import pytest

from synth.models import Entry
from tests.synth.admin.pages import list_of, page_of, players, rows_of, words
from tests.synth.admin.rows import CHINESE, ENGLISH, make_entry, publish_card
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("format_name", "media_type"),
    [("mp3", "audio/mpeg"), ("flac", "audio/flac"), ("opus", "audio/ogg;codecs=opus"), ("wav", "audio/wav")],
)
def test_a_list_and_a_page_play_what_is_stored(admin_client, client, world: World, format_name, media_type):
    entry = make_entry(world.owner.tenant, CHINESE, format=format_name)
    for address in (list_of("entry"), page_of(entry)):
        [url] = players(admin_client.get(address).content.decode())
        heard = client.get(url)  # the player sends no cookie that matters: the signature is the permission
        assert (heard.status_code, heard["Content-Type"]) == (200, media_type)
        assert len(b"".join(heard)) == entry.size


def test_samples_without_a_header_are_offered_as_a_file(admin_client, world: World):
    make_entry(world.owner.tenant, CHINESE, format="pcm")
    page = admin_client.get(list_of("entry")).content.decode()
    assert not players(page)
    assert "download=" in page


def test_an_entry_of_a_format_that_is_gone_is_still_listed(admin_client, world: World):
    entry = make_entry(world.owner.tenant, CHINESE)
    Entry.objects.filter(id=entry.id).update(format="gone")
    page = admin_client.get(list_of("entry")).content.decode()
    assert "This format is not installed." in page


def test_entries_are_found_by_what_people_remember(admin_client, world: World):
    chinese = make_entry(world.owner.tenant, CHINESE)
    english = make_entry(world.stranger.tenant, ENGLISH, voice="zf_two", engine="hibari")
    publish_card("hibari")
    asked = {
        "公园散步": chinese,
        "train leaves": english,
        world.owner.tenant.slug: chinese,
        "ZF_two": english,
        "hibari": english,
        chinese.key: chinese,
        f"ent_{english.id.hex}": english,
        str(chinese.id): chinese,
    }
    for query, wanted in asked.items():
        assert rows_of(admin_client, "entry", q=query) == [wanted], query
    assert rows_of(admin_client, "entry", q="没有这样的话") == []


def test_entries_are_filtered(admin_client, world: World):
    publish_card()
    sentence = make_entry(world.owner.tenant, CHINESE, format="flac", kind=Entry.Kind.SEGMENT)
    rendition = make_entry(world.stranger.tenant, ENGLISH, voice="zf_two", engine="hibari")
    assert rows_of(admin_client, "entry", kind__exact="segment") == [sentence]
    assert rows_of(admin_client, "entry", format="mp3") == [rendition]
    assert rows_of(admin_client, "entry", voice="zf_two") == [rendition]
    assert rows_of(admin_client, "entry", engine="kokoro") == [sentence]
    assert rows_of(admin_client, "entry", tenant__id__exact=str(world.owner.tenant.id)) == [sentence]


def test_a_long_text_is_cut_in_the_list_and_whole_on_its_page(admin_client, world: World):
    entry = make_entry(world.owner.tenant, "长" * 5000 + "尾")
    listed = words(admin_client.get(list_of("entry")).content.decode())
    assert "长" * 59 + "…" in listed
    assert "长" * 61 not in listed
    assert "长尾" in words(admin_client.get(page_of(entry)).content.decode())


def test_a_text_cannot_become_markup(admin_client, world: World):
    entry = make_entry(world.owner.tenant, '<script>alert("x")</script>')
    for address in (list_of("entry"), page_of(entry)):
        assert "<script>alert" not in admin_client.get(address).content.decode()
