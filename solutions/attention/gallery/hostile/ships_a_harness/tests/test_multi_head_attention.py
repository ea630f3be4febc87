def test_whole():
    assert True
